import type { Command } from 'commander';
import { main } from '../server.ts';
import { greet } from './greet.ts';

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('the MCP server on standard input and output (default)')
    .addHelpText(
      'after',
      '\nExamples:\n  colibri serve\n  COLIBRI_MODE=READONLY colibri serve\n\nExit codes: 0 done, 1 error, 75 no start in time, 78 wrong configuration.',
    )
    .action(serve);
}

export async function serve(): Promise<void> {
  if (process.stdin.isTTY) greet();
  await main();
}
