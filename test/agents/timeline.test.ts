import { setImmediate } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { TimelineEvent } from '../../src/cli/timeline/events.ts';
import { type EventFilters, selectEvents } from '../../src/cli/timeline/select-events.ts';
import { canonicalize, type Entry, saltedDigest } from '../../src/integrity/index.ts';
import { commitKey } from '../../src/integrity/observed-grammar.ts';
import { type Observation, recordObservations } from '../../src/recorder/record.ts';
import { type Crew, withCrew } from '../support/crew/crew.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

const SALT = '00112233445566778899aabbccddeeff';

/** An action of a session of Claude Code, as its hook reports it. */
function action(
  number: number,
  { claims, ...fields }: { claims?: string; [field: string]: unknown } = {},
): Observation {
  const content = canonicalize({ command: `step ${number}` });
  return {
    salt: SALT,
    content,
    claim: claims === undefined ? undefined : { taskId: claims, isHeld: true },
    entry: {
      v: 1,
      kind: 'observed',
      at: '2026-04-08T22:00:00.000Z',
      actor: 'hook:claude-code',
      client: 'claude-code',
      session: 's-1',
      event: 'PostToolUse',
      phase: 'after',
      tool: 'Bash',
      action: 'shell',
      call_id: `c-${number}`,
      key: `${number}`.padStart(32, '0'),
      content: saltedDigest('observed-content', SALT, content),
      ...fields,
    } as unknown as Entry,
  };
}

const record = ({ bob }: Crew, ...observations: Observation[]) =>
  bob.database.write({ durable: false }, (db) => recordObservations(db, observations));

async function runTimeline(path: string, ...args: string[]) {
  return runColibri(['timeline', ...args], cleanEnvironment({ ...(await ledgerAt(path)), TZ: 'UTC' }), tempFolder());
}

async function select({ bob }: Crew, filters: EventFilters = {}, taskId = 'T-0001') {
  const events: TimelineEvent[] = [];
  const show = async (event: TimelineEvent) => void events.push(event);
  const totals = await bob.database.read((db) => selectEvents(db, taskId, filters, { begin: () => undefined, show }));
  expect(totals.shown).toBe(events.length);
  return { events, totals, lines: events.map(describeEvent) };
}

function describeEvent(event: TimelineEvent): string {
  if (event.kind === 'call') return `${event.actor} ${event.tool} ${event.outcome}`;
  if (event.kind === 'decision') return `${event.actor} ${event.thought_id}`;
  return event.kind === 'observed' ? `${event.client} ${event.call_id ?? '-'} ${event.exit_code ?? '?'}` : event.kind;
}

const SAID = { tests_run: ['step 1'], commit_sha: 'ab'.repeat(4) };

const STORY = [
  'alice task_create ok',
  'bob task_update ok',
  'claude-code c-1 ?',
  'bob audit_session_start ok',
  'bob thought_record ok',
  'bob Θ-0001',
  'claude-code c-2 1',
  'bob task_update ERR_INVALID_TRANSITION',
  'claude-code c-3 0',
  'commit',
  'usage',
];

async function fill(crew: Crew): Promise<void> {
  const { alice, bob } = crew;
  await alice.createTask({ title: 'One', status: 'todo' });
  await alice.createTask({ title: 'Two', status: 'todo' });
  await bob.updateTask({ task_id: 'T-0001', status: 'in_progress' });
  await record(crew, action(1, { claims: 'T-0001' }));
  await bob.startSession({ task_id: 'T-0001', auditor_id: 'T-0002' });
  await bob.recordThought({ task_id: 'T-0001', type: 'decision', content: 'T-0002 is next', ...SAID });
  await record(
    crew,
    action(2, { exit_code: 1, outcome: 'failed', agent: 'Explore' }),
    action(9, { session: 's-2', claims: 'T-0002' }),
  );
  await bob.refusal('task_update', { id: 'T-0001', status: 'done' });
  await record(crew, action(3, { exit_code: 0, at: '2026-04-07T01:00:00.000Z' }));
  const sha = 'ab'.repeat(20);
  await record(
    crew,
    reported('{"branch":"main","paths":["src/a.ts"]}', {
      kind: 'observed.commit',
      actor: 'hook:git',
      sha,
      tree: sha,
      parents: [],
      key: commitKey(sha),
    }),
    reported('{}', { kind: 'observed.usage', actor: 'hook:claude-code', ...USAGE, key: 'a'.repeat(32) }),
  );
  await alice.listTasks({});
}

const USAGE = {
  client: 'claude-code',
  session: 's-1',
  model: 'm',
  responses: 1,
  input_tokens: 1,
  output_tokens: 2,
  cache_read_tokens: 3,
  cache_write_tokens: 4,
  cache_write_1h_tokens: 0,
};

function reported(content: string, fields: object): Observation {
  const digest = saltedDigest('observed-content', SALT, content);
  const entry = { v: 1, at: '2026-04-08T22:00:00.000Z', task_id: 'T-0001', content: digest, ...fields };
  return { salt: SALT, content, entry: entry as unknown as Entry };
}

describe('colibri timeline', () => {
  promiseTest('cli/timeline', 'calls, decisions and observed actions of one task', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const { path } = crew.alice;
      const { events, totals, lines } = await select(crew);
      expect(lines).toEqual(STORY);
      expect(totals).toEqual({
        kind: 'totals',
        task_id: 'T-0001',
        title: 'One',
        status: 'in_progress',
        calls: 5,
        decisions: 1,
        observed: 3,
        commits: 1,
        usage: 1,
        unreadable: 0,
        shown: 11,
      });
      expect(events[5]).toMatchObject({
        kind: 'decision',
        extras: { tests_run: ['step 1'], commit_sha: 'ab'.repeat(4) },
        evidence: [
          { field: 'tests_run', value: 'step 1', state: 'observed', entry: events[2]?.entry },
          { field: 'commit_sha', value: 'ab'.repeat(4), state: 'observed', entry: events[9]?.entry },
        ],
      });
      expect(events[6]).toEqual({
        kind: 'observed',
        entry: expect.any(Number) as number,
        at: '2026-04-08T22:00:00.000Z',
        actor: 'hook:claude-code',
        client: 'claude-code',
        session: 's-1',
        agent: 'Explore',
        event: 'PostToolUse',
        phase: 'after',
        tool: 'Bash',
        action: 'shell',
        call_id: 'c-2',
        outcome: 'failed',
        exit_code: 1,
        content: { command: 'step 2' },
      });
      const order = events.map(({ entry }) => entry);
      expect(order).toEqual(order.toSorted((one, other) => one - other));

      const printed = await runTimeline(path, 't-1', '--json');
      expect([printed.stderr, printed.status]).toEqual(['', 0]);
      const objects = printed.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      expect(objects).toEqual([...events, totals]);
      const { stdout } = await runTimeline(path, '1', '--limit', '3', '--width', '80');
      expect(stdout).toMatch(/^T-0001 {2}One\n2026-04-07\n +#\d+ 01:00:00 ▸ claude-code Bash exit 0\n/);
      expect(stdout).toMatch(
        /\n\nT-0001 has 5 calls, 1 decision, 3 observed actions, 1 commit, 1 usage report\.\sThe last 3 of 11\s/,
      );
    }),
  );

  promiseTest('cli/timeline', 'every filter, alone and with others', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const pick = async (filters: EventFilters) => (await select(crew, filters)).lines;
      expect(await pick({ observed: true })).toEqual(STORY.filter((line) => / c-|^commit|^usage/.test(line)));
      expect(await pick({ agent: 'alice' })).toEqual(STORY.slice(0, 1));
      expect(await pick({ agent: 'claude-code' })).toHaveLength(4);
      expect(await pick({ agent: 'hook:claude-code' })).toHaveLength(4);
      expect(await pick({ agent: 'Explore' })).toEqual(['claude-code c-2 1']);
      expect(await pick({ agent: 'Explore', observed: true, limit: 1 })).toEqual(['claude-code c-2 1']);
      expect(await pick({ agent: 'explore' })).toEqual([]);
      // One event is older than those before it, because it waited in the spool.
      const since = '2026-04-08T00:00:00.000Z';
      expect(await pick({ since, observed: true })).toEqual([
        'claude-code c-1 ?',
        'claude-code c-2 1',
        'commit',
        'usage',
      ]);
      expect(await pick({ since: '2999-01-01T00:00:00.000Z' })).toEqual([]);
      expect(await select(crew, { limit: 2 })).toMatchObject({
        lines: STORY.slice(-2),
        totals: { calls: 5, decisions: 1, observed: 3, shown: 2 },
      });
      expect((await select(crew, {}, 'T-0002')).lines).toEqual(['alice task_create ok', 'claude-code c-9 ?']);
    }),
  );

  promiseTest('cli/timeline', 'of thousands of events, all are read, and the last ones on request', () =>
    withCrew(async (crew) => {
      await crew.alice.createTask({ title: 'One', status: 'todo' });
      const count = 1203;
      await record(crew, ...Array.from({ length: count }, (_, place) => action(place, { claims: 'T-0001' })));
      const { events, totals, lines } = await select(crew);
      expect([events.length, totals.observed]).toEqual([count + 1, count]);
      expect(lines.slice(1)).toEqual(lines.slice(1).map((_, place) => `claude-code c-${place} ?`));
      const last = await select(crew, { limit: 501 });
      expect(last.events).toEqual(events.slice(-501));
      expect(last.totals).toEqual({ ...totals, shown: 501 });
    }),
  );

  promiseTest('cli/timeline', 'a slow reader is waited for, so that a long timeline needs little memory', () =>
    withCrew(async (crew) => {
      await crew.alice.createTask({ title: 'One', status: 'todo' });
      await record(crew, ...Array.from({ length: 30 }, (_, place) => action(place, { claims: 'T-0001' })));
      let [shown, waiting] = [0, 0];
      const show = async () => {
        shown += 1;
        waiting += 1;
        expect(waiting).toBe(1);
        await setImmediate();
        waiting -= 1;
      };
      for (const limit of [undefined, 7])
        await crew.bob.database.read((db) =>
          selectEvents(db, 'T-0001', limit === undefined ? {} : { limit }, { begin: () => undefined, show }),
        );
      expect(shown).toBe(31 + 7);
    }),
  );

  promiseTest('cli/timeline-wrong', 'an unknown task, a bad id and bad filters', () =>
    withCrew(async ({ alice }) => {
      await alice.createTask({ title: 'One' });
      const refusals: [args: string[], says: RegExp][] = [
        [['7'], /^1 colibri timeline: no task T-0007: the last one is T-0001; run colibri board/],
        [['A-0001'], /^64 .*Write the id of a task as T-0042/],
        [['1', '--limit', '0'], /^64 .*Use a whole number/],
        [['1', '--since', 'yesterday'], /^64 .*or a time such as/],
      ];
      for (const [args, says] of refusals) {
        const { stdout, stderr, status } = await runTimeline(alice.path, ...args);
        expect(stdout).toBe('');
        expect(`${status} ${stderr}`).toMatch(says);
      }
    }),
  );
});
