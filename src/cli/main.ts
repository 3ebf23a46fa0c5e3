import { parseArgs } from 'node:util';
import { main as serve } from '../server.ts';
import { readVersion } from '../version.ts';
import { greet } from './greet.ts';

const HELP = `colibri: a flight recorder for AI agents

Usage: colibri [serve]

  serve         the MCP server on standard input and output (default)

  -h, --help    this text
  --version     the version

Examples:
  claude mcp add colibri -- npx -y colibri-mcp
  COLIBRI_MODE=READONLY colibri serve

Configuration is by environment variables; the README lists them.
Exit codes: 0 done, 1 error, 64 wrong usage, 75 no start in time, 78 wrong configuration.`;

const EXIT_USAGE = 64;

export async function run(args: readonly string[]): Promise<void> {
  const parsed = parse(args);
  if (typeof parsed === 'string') return failUsage(parsed);
  const [command = 'serve', ...rest] = parsed.positionals;
  if (parsed.values.help) return console.log(HELP);
  if (parsed.values.version) return console.log(readVersion());
  if (command !== 'serve' || rest.length > 0) return failUsage(`unknown command: ${parsed.positionals.join(' ')}`);
  if (process.stdin.isTTY) greet();
  await serve();
}

function parse(args: readonly string[]) {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function failUsage(problem: string): void {
  console.error(`colibri: ${problem}\nTry: colibri --help`);
  process.exitCode = EXIT_USAGE;
}
