import type { Config } from '../../config.ts';
import { listClaimedTasks } from '../../domains/tasks/claims/agent-tasks.ts';
import { listLosses, MAX_REPLAYED } from '../../domains/tasks/claims/losses.ts';
import { listOpenSessions } from '../../domains/trail/open-sessions.ts';
import { listAgents } from '../../ledger/presence/list-agents.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION, WATCH_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { type ReadableLedger, withDatabase } from '../support/with-ledger.ts';
import { type AgentView, renderAgents, viewAgent } from '../views/agents.ts';
import { findTerminal } from '../views/terminal.ts';
import { showView } from '../watch/live-view.ts';

interface AgentsOptions {
  readonly watch?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const agents: CliCommand<AgentsOptions> = {
  name: 'agents',
  summary: 'list the agents: who is alive, the last call, the tasks held, lost and taken over',
  options: [WATCH_OPTION, WIDTH_OPTION, JSON_OPTION],
  details: [
    'Lists the agents, the one that called last first. alive: one of its servers runs. silent: one runs, but the agent has made no call for 10 minutes. lapsed: it was silent for so long that others may take a task that it holds (COLIBRI_CLAIM_TTL). gone: none of its servers runs.',
    'Agents that are gone and hold nothing are listed until many others have come after them.',
    'With --watch --json, prints one JSON object per line whenever something changed.',
  ],
  examples: [
    ['colibri agents'],
    ['colibri agents --watch'],
    [`colibri agents --json | jq -r '.agents[] | select(.alive) | .name'`],
  ],
  exitCodes: READ_EXIT_CODES,
  run: (options) => runReadCommand('agents', options.json ?? false, (config) => showAgents(config, options)),
};

const TRUNCATED = `Losses are those of the ${MAX_REPLAYED} taken-over tasks that changed last.`;

async function showAgents(config: Config, { watch = false, width, json = false }: AgentsOptions): Promise<number> {
  await withDatabase(config, (database) =>
    showView(
      database,
      {
        read: (ledger) => readAgents(ledger, config.claimTtlMs),
        render: ({ agents: views, losses_truncated }) => [
          ...renderAgents(views, findTerminal(width)),
          ...(losses_truncated ? [TRUNCATED] : []),
        ],
        json,
      },
      watch,
    ),
  );
  return 0;
}

async function readAgents(
  database: ReadableLedger,
  ttlMs: number | undefined,
): Promise<{ readonly agents: AgentView[]; readonly losses_truncated?: boolean }> {
  return database.read(async (reader) => {
    const tasks = await listClaimedTasks(reader);
    const { losses, truncated } = await listLosses(reader);
    const sessions = await listOpenSessions(reader);
    const seen = await listAgents(reader, database, Date.now());
    const views = seen.map((agent) => viewAgent(agent, { tasks, losses, sessions, ttlMs }));
    return { agents: views, ...(truncated ? { losses_truncated: true } : {}) };
  });
}
