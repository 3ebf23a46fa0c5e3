import { parseArgs } from 'node:util';
import { main as serve } from '../server.ts';
import { readVersion } from '../version.ts';
import { greet } from './greet.ts';

const HELP = `colibri: a flight recorder for AI agents

Usage: colibri [command] [options]

Commands:
  serve         the MCP server on standard input and output (default)
  verify        check the whole record: log, tree, chains, sessions, tables

Options:
  --json        verify: the report as JSON
  -h, --help    this text
  --version     the version

Examples:
  claude mcp add colibri -- npx -y colibri-mcp
  COLIBRI_MODE=READONLY colibri serve
  colibri verify --json

Configuration is by environment variables; the README lists them.
Exit codes of serve:  0 done, 1 error, 75 no start in time, 78 wrong configuration.
Exit codes of verify: 0 whole, 1 tampered, 2 cannot tell, 3 bad input.`;

const EXIT_USAGE = 64;

export async function run(args: readonly string[]): Promise<void> {
  const parsed = parse(args);
  if (typeof parsed === 'string') return failUsage(parsed);
  const [command = 'serve', ...rest] = parsed.positionals;
  if (parsed.values.help) return console.log(HELP);
  if (parsed.values.version) return console.log(readVersion());
  if (rest.length > 0) return failUsage(`${command} takes no ${rest.join(' ')}`);
  switch (command) {
    case 'serve':
      if (process.stdin.isTTY) greet();
      return serve();
    case 'verify': {
      const { verify } = await import('./verify.ts');
      process.exitCode = await verify({ json: parsed.values.json ?? false });
      return;
    }
    default:
      return failUsage(`there is no command ${command}`);
  }
}

function parse(args: readonly string[]) {
  try {
    const options = {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
      json: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function failUsage(problem: string): void {
  console.error(`colibri: ${problem}\nTry: colibri --help`);
  process.exitCode = EXIT_USAGE;
}
