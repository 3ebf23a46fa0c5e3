import type { WriteStream } from 'node:tty';
import { InvalidArgumentError } from 'commander';
import picocolors from 'picocolors';

export interface Terminal {
  /** Undefined where nobody looks at a screen: a line may be as long as it is. */
  readonly width: number | undefined;
  readonly colors: Colors;
}

export type Colors = ReturnType<typeof picocolors.createColors>;
type Paint = (text: string) => string;

const FALLBACK_WIDTH = 80;
const MIN_WIDTH = 20;
const MAX_WIDTH = 1000;

/** What standard output can show. Node itself looks at NO_COLOR, FORCE_COLOR and TERM, and only where there is a screen. */
export function findTerminal(width?: number, output: WriteStream = process.stdout): Terminal {
  // Of a pipe it is undefined, which picocolors takes for a question to itself.
  const hasColors = output.isTTY ? output.hasColors() : false;
  const own = output.isTTY ? Math.max(MIN_WIDTH, output.columns || FALLBACK_WIDTH) : undefined;
  return { width: width ?? own, colors: picocolors.createColors(hasColors) };
}

/** For the option --width. */
export function parseWidth(text: string): number {
  const width = Number(text);
  if (/^\d+$/.test(text) && width >= MIN_WIDTH && width <= MAX_WIDTH) return width;
  throw new InvalidArgumentError(`It is a number of columns from ${MIN_WIDTH} to ${MAX_WIDTH}.`);
}

const EXIT_IO_ERROR = 74;

/** A reader who has seen enough (`| head`) ends the program, and is no error; an output without room is one. */
export function endQuietlyWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    console.error(`colibri: the output cannot be written: ${error.message}`);
    process.exit(EXIT_IO_ERROR);
  });
}

export function priorityPaint({ red, yellow, cyan, gray, bold }: Colors, priority: string): Paint {
  const paints: Record<string, Paint> = { critical: (text) => bold(red(text)), high: yellow, normal: cyan, low: gray };
  return paints[priority] ?? cyan;
}

export function statusPaint({ blue, cyan, red, magenta, green, gray }: Colors, status: string): Paint {
  const paints: Record<string, Paint> = {
    todo: blue,
    in_progress: cyan,
    blocked: red,
    review: magenta,
    VERIFY: magenta,
    done: green,
    DONE: green,
    backlog: gray,
    cancelled: gray,
    CANCELLED: gray,
  };
  return paints[status] ?? blue;
}

/** "2026-04-08 22:15:30Z": the time as it is stored, without what a reader skips. */
export function shortTime(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
