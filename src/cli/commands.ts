import { Command, CommanderError } from 'commander';
import { readVersion } from '../version.ts';
import { addBackup } from './backup.ts';
import { addDemo } from './demo.ts';
import { addRestore } from './restore.ts';
import { addServe } from './serve.ts';
import { addVerify } from './verify.ts';

const EXIT_USAGE = 64;

const EXAMPLES = `
Examples:
  colibri                              serve MCP on standard input and output
  colibri verify                       is the record whole?
  colibri verify --json | jq .verdict

Configuration is by environment variables (COLIBRI_MODE, COLIBRI_DB_PATH, …); the README lists them.`;

/** Each command stands in a file of its own and loads what it needs when it runs. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command('colibri')
    .description('a flight recorder for AI agents')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
  for (const add of [addServe, addVerify, addDemo, addBackup, addRestore]) add(program);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
}
