import { Option } from 'commander';
import type { Config } from '../../config.ts';
import { parseId } from '../../ids.ts';
import { hasGap, listTaskCoverage } from '../../recorder/reports/list-reports.ts';
import { parseSince } from '../query/since.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION, parseCount, UTC_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson, whenTaken } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { TASK_ARGUMENT } from '../support/task-argument.ts';
import { withLedger } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { renderGaps } from '../views/coverage.ts';
import { findTerminal } from '../views/terminal.ts';
import { type EventFilters, type EventReader, selectEvents } from './select-events.ts';
import { createEventView, renderTitle, renderTotals } from './view.ts';

interface TimelineOptions extends EventFilters {
  readonly utc?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const timeline: CliCommand<TimelineOptions, string> = {
  name: 'timeline',
  summary: 'show what happened to a task in the order of the log: what agents said, and what was observed',
  argument: TASK_ARGUMENT,
  options: [
    new Option('-n, --limit <events>', 'show this many of the last events (default: all)').argParser(parseCount),
    new Option('--since <time>', 'only events since then: 2h ago as "2h", or 2026-04-08T22:15').argParser((text) =>
      parseSince(text, Date.now()),
    ),
    new Option('--agent <name>', 'only events of this agent, person, client or sub-agent'),
    new Option('--observed', 'only observed actions and commits, without calls and decisions'),
    UTC_OPTION,
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Calls (→) and decisions (●) are what an agent told Colibri. Observed actions (▸) and commits (◆) are what the hooks of its client and of git reported: the tool, the exit code if the client reported one, and the id of the call. Each event has its number in the log.',
    'Observed actions belong to the task that their session held at that time. Commands and edits between review and done are listed as well, because they count for the task. colibri init --record turns the recorder on.',
    'Without a terminal, prints one uncut line per event. With --json, prints one JSON object per line, with times in UTC; the last one has the totals, and the sessions of the task with calls that were not recorded (gaps).',
  ],
  examples: [
    ['colibri timeline 42'],
    ['colibri timeline T-0042 --observed --since 2h'],
    [`colibri timeline 42 --json | jq -r 'select(.kind == "observed" and .exit_code != 0) | .content.command'`],
  ],
  exitCodes: { ...READ_EXIT_CODES, 1: 'no such task' },
  run: (options, taskId) =>
    runReadCommand('timeline', options.json ?? false, (config) => showTimeline(config, taskId, options)),
};

async function showTimeline(config: Config, taskId: string, options: TimelineOptions): Promise<number> {
  const { json = false, utc = false } = options;
  const terminal = findTerminal(options.width);
  const render = createEventView({ terminal, utc });
  const isPage = !json && terminal.width !== undefined;
  const reader: EventReader = {
    begin: (task) => (isPage ? print(renderTitle(task, terminal)) : undefined),
    show: async (event) => {
      if (json) printJson(event);
      else print(render(event));
      await whenTaken();
    },
  };
  const { totals, gaps } = await withLedger(config, async (db) => ({
    totals: await selectEvents(createYieldingReader(db), taskId, options, reader),
    gaps: (await listTaskCoverage(db, parseId(taskId))).filter(hasGap),
  }));
  if (json) printJson(gaps.length === 0 ? totals : { ...totals, gaps });
  else if (totals.shown === 0) print(options.observed ? NOTHING_OBSERVED : NO_MATCH);
  else if (isPage) print(['', ...renderTotals(totals, terminal)]);
  if (isPage) print(renderGaps(gaps, terminal));
  return 0;
}

const NO_MATCH = 'No event matches.';
const NOTHING_OBSERVED = 'No observed action matches. Run colibri init --record to record what agents do.';
