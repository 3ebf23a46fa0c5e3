import { isDumbTerminal } from '../../config.ts';
import { createStyles, type Style, type Styles } from '../../terminal-text.ts';
import { findScreen, type Screen } from '../support/print.ts';
import { printable } from './text-width.ts';

export interface Terminal {
  /** Undefined if the output is not a terminal: lines are not cut or wrapped. */
  readonly width: number | undefined;
  readonly colors: Styles;
}

const FALLBACK_WIDTH = 80;
const MIN_WIDTH = 20;

/** Node evaluates NO_COLOR, FORCE_COLOR and TERM in `hasColors`; a pipe gets colors only if the user forces them. */
export function findTerminal(width?: number, output: Screen = findScreen()): Terminal {
  const hasColors = output.isTTY ? output.hasColors() : output.isColorForced;
  const own = output.isTTY ? Math.max(MIN_WIDTH, output.columns || FALLBACK_WIDTH) : undefined;
  return { width: width ?? own, colors: createStyles(hasColors) };
}

/** Whether text may be a link: not in a pipe, where a reader would have to remove the escape sequences. */
export function canLink(output: Screen = findScreen()): boolean {
  return output.isTTY && output.hasColors() && !isDumbTerminal();
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

/** "2026-04-08 22:15:30Z" */
export function shortTime(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

/** "2026-04-08 22:15:30" in the zone of this machine. */
function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const [year, ...rest] = [
    time.getFullYear(),
    time.getMonth() + 1,
    time.getDate(),
    time.getHours(),
    time.getMinutes(),
    time.getSeconds(),
  ];
  const [month, day, hour, minute, second] = rest.map((part) => String(part).padStart(2, '0'));
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

export type TimeFormat = (iso: string) => string;

/** Local time, as people read it beside other logs, unless they ask for UTC. */
export function timeFormat(utc = false): TimeFormat {
  return utc ? shortTime : localTime;
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`;
}

const MAX_NAMED = 10;

/** "T-0003, T-0007 and 5 more" */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(printable).join(', ');
  return names.length > MAX_NAMED ? `${shown} and ${(names.length - MAX_NAMED).toLocaleString('en')} more` : shown;
}
