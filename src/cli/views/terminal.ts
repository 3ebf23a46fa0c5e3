import { InvalidArgumentError } from 'commander';
import { createStyles, type Style, type Styles } from '../../terminal-text.ts';
import { findScreen, type Screen } from '../support/print.ts';

export interface Terminal {
  /** Undefined where nobody looks at a screen: a line may be as long as it is. */
  readonly width: number | undefined;
  readonly colors: Styles;
}

const FALLBACK_WIDTH = 80;
const MIN_WIDTH = 20;
const MAX_WIDTH = 1000;

/** What standard output can show. Node reads NO_COLOR, FORCE_COLOR and TERM, and only where there is a screen. */
export function findTerminal(width?: number, output: Screen = findScreen()): Terminal {
  const hasColors = output.isTTY ? output.hasColors() : false;
  const own = output.isTTY ? Math.max(MIN_WIDTH, output.columns || FALLBACK_WIDTH) : undefined;
  return { width: width ?? own, colors: createStyles(hasColors) };
}

/** For the option --width. */
export function parseWidth(text: string): number {
  const width = Number(text);
  if (/^\d+$/.test(text) && width >= MIN_WIDTH && width <= MAX_WIDTH) return width;
  throw new InvalidArgumentError(`It is a number of columns from ${MIN_WIDTH} to ${MAX_WIDTH}.`);
}

export function priorityPaint({ red, yellow, cyan, gray, bold }: Styles, priority: string): Style {
  const paints: Record<string, Style> = { critical: (text) => bold(red(text)), high: yellow, normal: cyan, low: gray };
  return paints[priority] ?? cyan;
}

export function statusPaint({ blue, cyan, red, magenta, green, gray }: Styles, status: string): Style {
  const paints: Record<string, Style> = {
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
