import { toTerminal } from './terminal-text.ts';

/** Everything that goes to standard error goes through here. */
export function printError(lines: string | readonly string[]): void {
  console.error(toTerminal(lines));
}
