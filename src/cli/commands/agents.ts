import { Option } from 'commander';
import type { Config } from '../../config.ts';
import { listClaimedTasks } from '../../domains/tasks/claims/agent-tasks.ts';
import { listLosses, MAX_REPLAYED } from '../../domains/tasks/claims/losses.ts';
import { listOpenSessions } from '../../domains/trail/sessions.ts';
import { isPerson } from '../../integrity/index.ts';
import { listAgents } from '../../ledger/presence/list-agents.ts';
import { type CoverageReport, hasGap, listCoverage } from '../../recorder/reports/list-reports.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION, WATCH_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { type ReadableLedger, withDatabase } from '../support/with-ledger.ts';
import { readUsage, type UsageData } from '../usage/usage-data.ts';
import { renderUsage } from '../usage/view.ts';
import { type AgentView, type PersonView, renderAgents, renderPeople, viewAgent, viewPerson } from '../views/agents.ts';
import { renderGaps } from '../views/coverage.ts';
import { findTerminal, type Terminal } from '../views/terminal.ts';
import { showView } from '../watch/live-view.ts';

interface AgentsOptions {
  readonly usage?: boolean;
  readonly watch?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const agents: CliCommand<AgentsOptions> = {
  name: 'agents',
  summary: 'list the agents: who is alive, the last call, the tasks held, lost and taken over',
  options: [
    new Option('--usage', 'show instead the tokens that were used, per task and model, and their cost'),
    WATCH_OPTION,
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Lists the agents, the one that called last first. alive: one of its servers runs. silent: one runs, but the agent has made no call for 10 minutes. lapsed: it was silent for so long that others may take a task that it holds (COLIBRI_CLAIM_TTL). gone: none of its servers runs. People are listed below the agents.',
    'Agents that are gone and hold nothing are listed until many others have come after them.',
    'Below the agents are the sessions of clients with calls that were not recorded (colibri init --record).',
    'With --usage, tokens are counted as the clients report them when they stop: input, output, read from a cache and written to one. The cost is computed from a table of list prices, whose date is printed; models that are not in it have no cost.',
    'With --watch --json, prints one JSON object per line whenever something changed.',
  ],
  examples: [
    ['colibri agents'],
    ['colibri agents --watch'],
    ['colibri agents --usage'],
    [`colibri agents --usage --json | jq '[.usage[].output_tokens] | add'`],
    [`colibri agents --json | jq -r '.agents[] | select(.alive) | .name'`],
  ],
  exitCodes: READ_EXIT_CODES,
  run: (options) => runReadCommand('agents', options.json ?? false, (config) => showAgents(config, options)),
};

const TRUNCATED = `Losses are those of the ${MAX_REPLAYED} taken-over tasks that changed last.`;

async function showAgents(config: Config, { usage = false, watch = false, width, json = false }: AgentsOptions) {
  await withDatabase(config, (database) =>
    usage
      ? showView(database, { read: readTokens, render: (data) => renderUsage(data, findTerminal(width)), json }, watch)
      : showView(
          database,
          {
            read: (ledger) => readAgents(ledger, config.claimTtlMs),
            render: (data) => renderPage(data, findTerminal(width)),
            json,
          },
          watch,
        ),
  );
  return 0;
}

function readTokens(database: ReadableLedger): Promise<UsageData> {
  return database.read(readUsage);
}

interface AgentsData {
  readonly agents: readonly AgentView[];
  /** People who called tools with commands. */
  readonly people: readonly PersonView[];
  /** The latest coverage of the sessions of clients that have a gap. */
  readonly gaps: readonly CoverageReport[];
  readonly losses_truncated?: boolean;
}

async function readAgents(database: ReadableLedger, ttlMs: number | undefined): Promise<AgentsData> {
  return database.read(async (reader) => {
    const tasks = await listClaimedTasks(reader);
    const { losses, truncated } = await listLosses(reader);
    const sessions = await listOpenSessions(reader);
    const seen = await listAgents(reader, database, Date.now());
    const facts = { tasks, losses, sessions, ttlMs };
    const views = seen.filter(({ name }) => !isPerson(name)).map((agent) => viewAgent(agent, facts));
    const people = seen.filter(({ name }) => isPerson(name)).map((person) => viewPerson(person, facts));
    const gaps = (await listCoverage(reader)).filter(hasGap);
    return { agents: views, people, gaps, ...(truncated ? { losses_truncated: true } : {}) };
  });
}

function renderPage({ agents: views, people, gaps, losses_truncated }: AgentsData, terminal: Terminal): string[] {
  const lines = renderGaps(gaps, terminal);
  return [
    ...renderAgents(views, terminal),
    ...renderPeople(people, terminal),
    ...(losses_truncated ? [TRUNCATED] : []),
    ...(lines.length === 0 ? [] : ['', terminal.colors.bold('Not everything was recorded'), ...lines]),
  ];
}
