import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { main } from '../../server.ts';
import { printTerminalHint } from '../support/terminal-hint.ts';

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
  delayOptimization();
  if (process.stdin.isTTY) printTerminalHint();
  await main();
}

/** Bytecodes that a function may run before V8 compiles it again, optimised; the default is 67,584. */
const INTERRUPT_BUDGET = 500_000;

/**
 * Most servers answer a few hundred calls. V8 before version 12 (Node 20) spends a third of their processor time on
 * optimising code that does not run long enough to pay for it. Later versions have a compiler between the two extremes.
 */
function delayOptimization(): void {
  if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
}
