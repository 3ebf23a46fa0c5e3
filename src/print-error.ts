import { toTerminal } from './terminal-text.ts';
import { wrapProse } from './text/prose.ts';

/** The only function that writes to stderr. Wraps sentences on a terminal. */
export function printError(lines: string | readonly string[]): void {
  const { isTTY, columns } = process.stderr;
  console.error(toTerminal(wrapProse(lines, isTTY && columns > 0 ? columns : undefined)));
}
