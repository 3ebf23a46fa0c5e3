import { Command, CommanderError } from 'commander';
import { toError } from '../errors.ts';
import { printError } from '../print-error.ts';
import { escapeUnsafe } from '../terminal-text.ts';
import { readVersion } from '../version.ts';
import { addBackup } from './commands/backup.ts';
import { addBoard } from './commands/board.ts';
import { addCopy } from './commands/copy.ts';
import { addDemo } from './commands/demo.ts';
import { addDoctor } from './commands/doctor.ts';
import { addInit } from './commands/init.ts';
import { addLog } from './commands/log.ts';
import { addNext } from './commands/next.ts';
import { addRestore } from './commands/restore.ts';
import { addServe } from './commands/serve.ts';
import { addShow } from './commands/show.ts';
import { addTrust } from './commands/trust.ts';
import { addVerify } from './commands/verify.ts';
import { exitOnBrokenPipe, print } from './support/print.ts';

const EXIT_BUG = 1;
const EXIT_USAGE = 64;
const EXIT_BAD_INPUT = 3;

const EXAMPLES = `
Examples:
  colibri                              serve MCP on standard input and output
  colibri board                        the tasks in columns
  colibri show 42                      one task and why it is as it is
  colibri log --follow                 what agents do, as they do it
  colibri verify                       is the record whole?
  colibri verify --json | jq .verdict

Configuration is by environment variables (COLIBRI_MODE, COLIBRI_DB_PATH, …); the README lists them.`;

/** Each command has a file of its own and loads what it needs when it runs. */
export async function runCommand(args: readonly string[]): Promise<void> {
  exitOnBrokenPipe();
  process.on('uncaughtException', exitWithStack);
  const program = new Command('colibri')
    .description('a flight recorder for AI agents')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError()
    .showHelpAfterError('Try: colibri --help')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => print(linesOf(text)),
      writeErr: (text) => printError(linesOf(text)),
      outputError: (text, write) => write(escapeArguments(text, args)),
    })
    .exitOverride();
  addServe(program);
  addInit(program);
  addDemo(program);
  addBoard(program);
  addShow(program);
  addNext(program);
  addLog(program);
  addVerify(program);
  addTrust(program);
  addDoctor(program);
  addBackup(program);
  addRestore(program);
  addCopy(program);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) return exitWithStack(toError(error));
    process.exitCode = error.exitCode === 0 ? 0 : usageExitOf(args[0]);
  }
}

/** A bug. Node would print its message as it is. */
function exitWithStack({ message, stack = message }: Error): never {
  printError(stack.split('\n'));
  process.exit(EXIT_BUG);
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** Commander quotes arguments in its messages, and a line break in one must not begin a line. */
function escapeArguments(text: string, args: readonly string[]): string {
  return args.reduce((escaped, argument) => escaped.replaceAll(argument, escapeUnsafe(argument)), text);
}

/** Commands whose exit code is a verdict call bad usage bad input. */
function usageExitOf(command: string | undefined): number {
  return command !== undefined && ['verify', 'trust', 'backup', 'restore', 'copy'].includes(command)
    ? EXIT_BAD_INPUT
    : EXIT_USAGE;
}
