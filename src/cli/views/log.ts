import { countStates } from '../../integrity/evidence/compare.ts';
import type { LoggedCall } from '../query/call-task.ts';
import { contradictionMark, evidenceMark } from './evidence.ts';
import { type Terminal, timeFormat } from './terminal.ts';
import { cut, displayWidth, pad, printable } from './text-width.ts';

const NUMBER_WIDTH = 6;
const ACTOR_WIDTH = 14;
const TASK_WIDTH = 6;
const CLOCK_WIDTH = 8;
const MIN_ACTOR = 4;
const TOOL_WIDTH = 19;
/** A narrower terminal has no aligned columns, or no date. */
const ALIGNED_FROM = 72;
const DATED_FROM = 100;
/** Shown for a call without a task, or without the name of a tool. */
const NONE = '-';

/** Renders calls one after the other. A terminal that has no room for dates gets a line for each new day. */
export function createCallView(terminal: Terminal, utc: boolean): (call: LoggedCall) => string[] {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  let day = '';
  return (call) => {
    const lines = renderCall(call, terminal, utc);
    const today = timeOf(call, utc).slice(0, 10);
    if (width >= DATED_FROM || today === day) return lines;
    day = today;
    return [colors.bold(day), ...lines];
  };
}

function timeOf({ entered_at }: LoggedCall, utc: boolean): string {
  return printable(timeFormat(utc)(entered_at));
}

/** One line, or two where a line would cut the outcome. */
export function renderCall(call: LoggedCall, terminal: Terminal, utc: boolean): string[] {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  const { sequence_no, actor, task_id, tool, outcome, duration_ms } = call;
  const { dim, cyan } = colors;
  const counts = countStates(call.evidence ?? []);
  const time = timeOf(call, utc);
  const isNarrow = width < ALIGNED_FROM;
  const task = task_id ?? NONE;
  // The task is what people look for: a long name gives way to it.
  const actorRoom = width - NUMBER_WIDTH - CLOCK_WIDTH - displayWidth(task) - 3;
  const shownActor = isNarrow ? cut(printable(actor), Math.max(MIN_ACTOR, actorRoom)) : printable(actor);
  const align = (text: string, columnWidth: number) => {
    if (isNarrow) return text;
    // Without a terminal nothing is cut: scripts compare whole names.
    return terminal.width === undefined ? pad(text, Math.max(columnWidth, displayWidth(text))) : pad(text, columnWidth);
  };
  const origin: Cell[] = [
    [`#${sequence_no}`.padStart(NUMBER_WIDTH), dim],
    [width < DATED_FROM ? time.slice(11, 19) : time, dim],
    [align(shownActor, ACTOR_WIDTH), cyan],
    [align(task, Math.max(TASK_WIDTH, task.length)), String],
  ];
  const result: Cell[] = [
    [align(printable(tool) || NONE, TOOL_WIDTH), String],
    [printable(outcome), outcomePaint(outcome, colors)],
    [duration_ms === null ? '' : `${duration_ms} ms`, dim],
    [evidenceMark(counts), dim],
    [contradictionMark(counts), colors.red],
    [printable(terminal.width === undefined ? call.arguments : withoutTask(call)), dim],
  ];
  if (!isNarrow) return [joinCells([...origin, ...result], width)];
  const margin = ' '.repeat(NUMBER_WIDTH + 1);
  return [joinCells(origin, width), margin + joinCells(result, width - margin.length)];
}

type Cell = readonly [text: string, paint: (text: string) => string];

/** Returns as many cells as fit; the last one is truncated. */
function joinCells(cells: readonly Cell[], width: number): string {
  let room = width;
  let line = '';
  for (const [text, paint] of cells) {
    if (text.trim() === '' || room < 1) continue;
    const shown = cut(text, room);
    line += `${paint(shown)} `;
    room -= displayWidth(shown) + 1;
  }
  return line.trimEnd();
}

/** The task has a column of its own. */
function withoutTask({ arguments: text, task_id }: LoggedCall): string {
  for (const name of ['task_id', 'id']) {
    const member = `"${name}":"${task_id}"`;
    for (const [part, rest] of [
      [`{${member},`, '{'],
      [`,${member}`, ''],
      [`{${member}}`, ''],
    ] as const)
      if (text.includes(part)) return text.replace(part, rest);
  }
  return text;
}

function outcomePaint(outcome: string, { green, yellow, red }: Terminal['colors']): (text: string) => string {
  if (outcome === 'ok') return green;
  return outcome === 'running' ? yellow : red;
}
