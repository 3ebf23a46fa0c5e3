import { createInterface } from 'node:readline/promises';
import { printError } from '../../print-error.ts';
import { escapeUnsafe, toTerminal } from '../../terminal-text.ts';

/** Everything that a command writes to standard output, and all that moves the cursor, goes through here. */

const EXIT_IO_ERROR = 74;

/** For people. */
export function print(lines: string | readonly string[]): void {
  console.log(toTerminal(lines));
}

/** For programs: one line, which is also safe to look at. */
export function printJson(value: unknown): void {
  console.log(escapeUnsafe(JSON.stringify(value)));
}

/** Whether a person can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Everything but a yes is a no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(toTerminal(`${question} [y/N] `));
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/** A line on standard error that is drawn over and over. */
export interface StatusLine {
  readonly show: (text: string) => void;
  readonly clear: () => void;
}

/** Undefined where standard error is no terminal. */
export function openStatusLine(): StatusLine | undefined {
  if (!process.stderr.isTTY) return undefined;
  return {
    show: (text) => process.stderr.write(`\r${toTerminal(text)}`),
    clear: () => process.stderr.write('\r\u001b[2K'),
  };
}

/** What can be asked of standard output. */
export interface Screen {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly hasColors: () => boolean;
}

export function findScreen(): Screen {
  const { stdout } = process;
  return { isTTY: stdout.isTTY, columns: stdout.columns, hasColors: () => stdout.hasColors() };
}

/** EPIPE (`| head`) exits with 0, other write errors with 74. */
export function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    printError(`colibri: cannot write the output: ${error.message}; free some space or choose another place`);
    process.exit(EXIT_IO_ERROR);
  });
}
