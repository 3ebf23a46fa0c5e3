import type { Config } from '../../config.ts';
import type { Liveness, Reader } from '../../db/database.ts';
import { listBlocked, listNextActions } from '../../domains/tasks/next-actions.ts';
import type { CliCommand } from '../support/command.ts';
import { ALL_OPTION, countOption, JSON_OPTION, PROJECT_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson, printProse } from '../support/print.ts';
import { chooseProjects, describeEmpty, PROJECT_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { type Queue, renderQueues } from '../views/next.ts';
import { findTerminal } from '../views/terminal.ts';

const DEFAULT_LIMIT = 20;

interface NextOptions {
  readonly project?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly width?: number;
  readonly json?: boolean;
}

export const next: CliCommand<NextOptions> = {
  name: 'next',
  summary: 'list the tasks that are ready, and the blocked ones with the reason',
  options: [
    PROJECT_OPTION,
    ALL_OPTION,
    countOption('-n, --limit <count>', 'show this many tasks per list', DEFAULT_LIMIT),
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Shows the queue that task_next_actions returns to agents: highest priority first, then oldest. Tasks whose claim has lapsed come after the free ones of the same priority.',
  ],
  examples: [
    ['colibri next'],
    ['colibri next --project web -n 5'],
    [`colibri next --json | jq -r '.queues[].next_actions[0].task_id'`],
  ],
  exitCodes: PROJECT_EXIT_CODES,
  run: (options) => runReadCommand('next', options.json ?? false, (config) => showNext(config, options)),
};

async function showNext(config: Config, options: NextOptions): Promise<number> {
  const { limit = DEFAULT_LIMIT, width, json } = options;
  const at = new Date().toISOString();
  const readQueues = async (reader: Reader, liveness: Liveness) => {
    const found: Queue[] = [];
    for (const name of await chooseProjects(reader, config, options)) {
      // Reads one more than is shown, to learn whether the list was cut.
      const queue = { project: name, limit: limit + 1 };
      const context = { liveness, at, ttlMs: config.claimTtlMs };
      const ready = await listNextActions(reader, queue, context);
      const blocked = await listBlocked(reader, queue, context);
      found.push({
        project: name,
        next_actions: ready.slice(0, limit),
        blocked: blocked.slice(0, limit),
        has_more: { next_actions: ready.length > limit, blocked: blocked.length > limit },
      });
    }
    return found;
  };
  const queues = await withDatabase(config, (database) => database.read((reader) => readQueues(reader, database)));
  if (json) printJson({ queues });
  else if (queues.length === 0) printProse(describeEmpty(config));
  else print(renderQueues(queues, findTerminal(width)));
  return 0;
}
