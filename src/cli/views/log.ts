import type { Action } from '../../ledger/calls/actions.ts';
import { shortTime, type Terminal } from './terminal.ts';
import { cut, displayWidth, pad, printable } from './text-width.ts';

const ACTOR_WIDTH = 14;
const TOOL_WIDTH = 19;
/** Narrower lines have no aligned columns, or no date. */
const ALIGNED_FROM = 60;
const DATED_FROM = 100;

export function renderAction(action: Action, terminal: Terminal): string {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  const { sequence_no, entered_at, actor, tool, outcome, duration_ms } = action;
  const { dim, cyan } = colors;
  const time = shortTime(entered_at);
  const align = (text: string, columnWidth: number) => (width < ALIGNED_FROM ? text : pad(text, columnWidth));
  const cells: [string, (text: string) => string][] = [
    [`#${sequence_no}`.padStart(6), dim],
    [width < DATED_FROM ? time.slice(11, 19) : time, dim],
    [align(printable(actor), ACTOR_WIDTH), cyan],
    [align(printable(tool), TOOL_WIDTH), String],
    [printable(outcome), outcomePaint(outcome, colors)],
    [duration_ms === null ? '' : `${duration_ms} ms`, dim],
    [printable(action.arguments), dim],
  ];
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

function outcomePaint(outcome: string, { green, yellow, red }: Terminal['colors']): (text: string) => string {
  if (outcome === 'ok') return green;
  return outcome === 'running' ? yellow : red;
}
