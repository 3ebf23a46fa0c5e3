import { toTerminal } from './terminal-text.ts';

/** The only function that writes to stderr. */
export function printError(lines: string | readonly string[]): void {
  console.error(toTerminal(lines));
}
