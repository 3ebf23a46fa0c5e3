import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { stripVTControlCharacters } from 'node:util';
import { isColorForced, isDumbTerminal } from '../../config.ts';
import { explainFullDisk } from '../../files/full-disk.ts';
import { printError } from '../../print-error.ts';
import { escapeUnsafe, toTerminal } from '../../terminal-text.ts';
import { wrapProse } from '../../text/prose.ts';
import { displayWidth } from '../views/text-width.ts';

/** The only functions that write to stdout or move the cursor. */

export const EXIT_IO_ERROR = 74;
const FALLBACK_COLUMNS = 80;

export function print(lines: string | readonly string[]): void {
  console.log(toTerminal(lines));
}

/** Prints sentences, which are wrapped on a terminal. Views that fit their own lines, and data, use `print`. */
export function printProse(lines: string | readonly string[]): void {
  print(wrapProse(lines, findColumns()));
}

/** Undefined if stdout is not a terminal. */
function findColumns(): number | undefined {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : undefined;
}

/** Prints one line, escaped so that a terminal shows it safely. */
export function printJson(value: unknown): void {
  console.log(escapeUnsafe(JSON.stringify(value)));
}

/** Backpressure: resolves when the reader of a pipe has taken what was printed, which is kept in memory until then. */
export async function whenTaken(): Promise<void> {
  const { stdout } = process;
  if (stdout.writableNeedDrain) await new Promise((resolve) => stdout.once('drain', resolve));
}

/** Prints records of cells for other programs. Cells are escaped like all data; the separators are not data. */
export function printRecords(
  records: readonly (readonly string[])[],
  { separator, end }: { readonly separator: string; readonly end: string },
): void {
  process.stdout.write(records.map((cells) => `${cells.map(escapeUnsafe).join(separator)}${end}`).join(''));
}

/** Whether stdin and stdout are terminals, so that a person can answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Returns true for "y" and "yes" only: Ctrl-C and Ctrl-D are a no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = once(prompt, 'close').then(() => '');
    const lines = wrapProse(`${question} [y/N]`, findColumns());
    if (lines.length > 1) printError(lines.slice(0, -1));
    const asked = prompt.question(toTerminal(`${lines.at(-1)} `)).catch(() => '');
    const answer = await Promise.race([asked, closed]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/** A line on stderr that is redrawn in place. */
export interface StatusLine {
  readonly show: (text: string) => void;
  readonly clear: () => void;
  /** The width of the terminal at this moment. */
  readonly columns: () => number;
}

/** Returns undefined if stderr is not a terminal, or is one that cannot clear a line. */
export function openStatusLine(): StatusLine | undefined {
  if (!process.stderr.isTTY || isDumbTerminal()) return undefined;
  return {
    show: (text) => process.stderr.write(`\r${toTerminal(text)}`),
    clear: () => process.stderr.write('\r\u001b[2K'),
    // A terminal that does not know its size reports 0.
    columns: () => process.stderr.columns || FALLBACK_COLUMNS,
  };
}

const HOME = '\u001b[H';
const CLEAR_TO_END_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** A terminal that is drawn over from its top, in one write: nothing flickers, because no line is blank in between. */
export interface LiveScreen {
  /** Lines that do not fit are left out at the bottom, and counted. */
  readonly draw: (lines: readonly string[]) => void;
  /** Calls this when the size of the terminal changes. */
  readonly onResize: (redraw: () => void) => void;
}

/** Returns undefined if stdout is not a terminal, or is one that cannot move its cursor. */
export function openLiveScreen(): LiveScreen | undefined {
  const { stdout } = process;
  if (!stdout.isTTY || isDumbTerminal()) return undefined;
  // What is on the screen scrolls up, so that it is not overwritten.
  let start = '\n'.repeat(Math.max(0, (stdout.rows || 1) - 1));
  return {
    draw: (lines) => {
      const drawn = fitRows(lines, stdout.rows).map((line) => drawnLine(toTerminal(line), stdout.columns));
      stdout.write(`${start}${HOME}${drawn.join('')}${CLEAR_BELOW}`);
      start = '';
    },
    onResize: (redraw) => void stdout.on('resize', redraw),
  };
}

/** After a full line the cursor is still on its last character, which clearing would remove. */
function drawnLine(text: string, columns: number | undefined): string {
  const isFull = displayWidth(stripVTControlCharacters(text)) >= (columns || Number.POSITIVE_INFINITY);
  return `${text}${isFull ? '' : CLEAR_TO_END_OF_LINE}\n`;
}

/** The last row stays free for the cursor. */
function fitRows(lines: readonly string[], rows: number | undefined): readonly string[] {
  const room = Math.max(2, (rows || Number.POSITIVE_INFINITY) - 1);
  if (lines.length <= room) return lines;
  const left = lines.length - room + 1;
  return [...lines.slice(0, room - 1), `… ${left.toLocaleString('en')} more lines; enlarge the terminal`];
}

/** The properties of stdout that decide the layout. */
export interface Screen {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly hasColors: () => boolean;
  /** Counts where the output is not a terminal. */
  readonly isColorForced: boolean;
}

export function findScreen(): Screen {
  const { stdout } = process;
  return {
    isTTY: stdout.isTTY,
    columns: stdout.columns,
    hasColors: () => stdout.hasColors(),
    isColorForced: isColorForced(),
  };
}

/** EPIPE (`| head`) exits with 0, other write errors with 74. */
export function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    printError(`colibri: cannot write the output: ${explainFullDisk(error).message}`);
    process.exit(EXIT_IO_ERROR);
  });
}
