import { describe, expect } from 'vitest';
import {
  checkActions,
  checkCommit,
  checkCoverage,
  checkEvidence,
  checkSession,
  type Driver,
  type Evidence,
  type Observed,
} from '../../scripts/clients/check.mjs';
import { describeColibri, table } from '../../scripts/clients/report.mjs';
import {
  actionOf,
  MISSING_COMMIT,
  sessionSteps,
  TASK,
  TEST_COMMAND,
  UNRUN_COMMAND,
} from '../../scripts/clients/session.mjs';
import { promiseTest } from '../support/promise-test.ts';

const HEAD = 'a'.repeat(40);
const STEPS = sessionSteps(() => HEAD);
const CLIENT: Driver = { id: 'claude-code' };

const event = (fields: object, content: object = {}): Observed => ({
  entry: { kind: 'observed', client: 'claude-code', session: 's', ...fields },
  content: { ...content },
});

/** What a client reports that has call ids and tells everything. */
function reports(): Observed[] {
  const calls = STEPS.flatMap((step, index) => {
    const action = actionOf(step);
    const tool = step.tool === undefined ? 'Tool' : `mcp__colibri__${step.tool}`;
    const isHeld = index < STEPS.length - 1;
    const call = { action, tool, call_id: `call_${index}`, ...(isHeld && { task_id: TASK }) };
    const end = {
      ...call,
      phase: step.fails ? 'failed' : 'after',
      outcome: step.fails ? 'failed' : 'ok',
      ...(step.exitCode !== undefined && { exit_code: step.exitCode }),
    };
    const content = { ...(step.command && { command: step.command }), ...(step.path && { path: `/x/${step.path}` }) };
    return [event({ ...call, phase: 'before' }, content), event(end, content)];
  });
  return [event({ phase: 'session_start' }), ...calls, event({ phase: 'stop' }), event({ phase: 'session_end' })];
}

const without = (fields: readonly string[], { entry, content }: Observed): Observed => ({
  entry: Object.fromEntries(Object.entries(entry).filter(([name]) => !fields.includes(name))),
  content,
});
const isEnd = ({ entry }: Observed) => entry['phase'] === 'after' || entry['phase'] === 'failed';
const isFailedMcp = ({ entry }: Observed) => entry['action'] === 'mcp' && entry['phase'] === 'failed';
const changed = (at: (observed: Observed) => boolean, fields: object) =>
  reports().map((observed) => (at(observed) ? { ...observed, entry: { ...observed.entry, ...fields } } : observed));

describe('what npm run clients checks', () => {
  promiseTest('recorder/client-check', 'accepts a session that was observed as it was played', () => {
    expect(checkActions(reports(), STEPS, CLIENT)).toEqual([]);
    expect(checkSession(reports(), CLIENT)).toEqual([]);
    const anonymous = reports().map((observed) => without(['call_id'], observed));
    expect(checkActions(anonymous, STEPS, CLIENT)).toEqual([]);
    const ends = reports().filter((observed) => observed.entry['action'] === undefined || isEnd(observed));
    expect(checkActions(ends, STEPS, CLIENT)).toEqual([]);
  });

  const isCall = (index: number) => (observed: Observed) => observed.entry['call_id'] === `call_${index}`;
  const isEndOf = (index: number) => (observed: Observed) => isCall(index)(observed) && isEnd(observed);
  const wrong: readonly (readonly [what: string, observations: Observed[]])[] = [
    ['nothing at all', []],
    ['a call that is missing', reports().filter((observed) => !isCall(5)(observed))],
    ['a call without an end', reports().filter((observed) => !isEndOf(5)(observed))],
    [
      'a call with two ends',
      reports().flatMap((observed) => (isEndOf(5)(observed) ? [observed, observed] : [observed])),
    ],
    [
      'a call that was never made',
      [...reports(), event({ action: 'shell', phase: 'after', call_id: 'x', tool: 'Bash' })],
    ],
    ['a failure that is reported as a success', changed(isEndOf(3), { outcome: 'ok' })],
    ['another exit code', changed(isEndOf(3), { exit_code: 1 })],
    [
      'an exit code that is missing',
      reports().map((observed) => (isEndOf(3)(observed) ? without(['exit_code'], observed) : observed)),
    ],
    ['another task', changed(isEndOf(5), { task_id: 'T-0002' })],
    ['no task', reports().map((observed) => (isEndOf(5)(observed) ? without(['task_id'], observed) : observed))],
    ['another action', changed(isEndOf(2), { action: 'other' })],
    [
      'another command',
      reports().map((observed) => (isEndOf(5)(observed) ? { ...observed, content: { command: 'true' } } : observed)),
    ],
  ];
  for (const [what, observations] of wrong)
    promiseTest('recorder/client-check', `refuses ${what}`, () => {
      expect(checkActions(observations, STEPS, CLIENT)).not.toEqual([]);
      const anonymous = observations.map((observed) => without(['call_id'], observed));
      expect(checkActions(anonymous, STEPS, CLIENT)).not.toEqual([]);
    });

  promiseTest('recorder/client-check', 'a client that hides something may hide this, and nothing else', () => {
    const unfinished = reports().filter((observed) => !isFailedMcp(observed));
    expect(checkActions(unfinished, STEPS, { ...CLIENT, hidesExitCodes: true }).length).toBeGreaterThan(0);
    expect(checkActions(unfinished, STEPS, CLIENT)).toHaveLength(1);
    const unknown = changed((observed) => observed.entry['action'] === 'shell' && isEnd(observed), {
      outcome: 'unknown',
    }).map((observed) => without(['exit_code'], observed));
    expect(checkActions(unknown, STEPS, { ...CLIENT, hidesExitCodes: true })).toEqual([]);
    expect(checkActions(unknown, STEPS, CLIENT)).toHaveLength(3);
  });

  promiseTest('recorder/client-check', 'refuses a session with two names, no end or another client', () => {
    expect(checkSession([...reports(), event({ phase: 'other', session: 't' })], CLIENT)).toHaveLength(1);
    expect(checkSession([...reports(), event({ phase: 'stop' })], CLIENT)).toHaveLength(1);
    expect(checkSession(reports().slice(0, -1), CLIENT)).toHaveLength(1);
    expect(checkSession(reports().slice(0, -1), { ...CLIENT, hasNoSessionEnd: true })).toEqual([]);
    expect(checkSession(reports(), { id: 'codex' })).toHaveLength(1);
    expect(checkSession([], CLIENT).length).toBeGreaterThan(3);
  });

  promiseTest('recorder/client-check', 'refuses any gap of the coverage', () => {
    const coverage = (seen: number, recorded: number) => [
      event({ kind: 'observed.coverage', seen: 3, recorded: 3 }),
      event({ kind: 'observed.coverage', seen, recorded }),
    ];
    const whole = coverage(STEPS.length, STEPS.length);
    expect(checkCoverage(whole, STEPS, CLIENT)).toEqual([]);
    for (const observations of [[], coverage(STEPS.length, 12), coverage(12, 12), coverage(0, 0)])
      expect(checkCoverage(observations, STEPS, CLIENT)).toHaveLength(1);
    const silent = { ...CLIENT, limits: { coverage: 'no transcript' } };
    expect(checkCoverage([], STEPS, silent)).toEqual([]);
    expect(checkCoverage(whole, STEPS, silent)).toHaveLength(1);
  });

  promiseTest('recorder/client-check', 'refuses a commit that is missing, doubled, another or of no task', () => {
    const commit = (fields: object) => event({ kind: 'observed.commit', sha: HEAD, task_id: TASK, ...fields });
    expect(checkCommit([commit({})], HEAD, CLIENT)).toEqual([]);
    const others = [[], [commit({}), commit({})], [commit({ sha: 'b' })], [commit({ task_id: undefined })]];
    for (const observations of others) expect(checkCommit(observations, HEAD, CLIENT)).toHaveLength(1);
    const silent = { ...CLIENT, limits: { commit: 'runs no hooks of git' } };
    expect(checkCommit([], HEAD, silent)).toEqual([]);
    expect(checkCommit([commit({})], HEAD, silent)).toHaveLength(1);
  });

  promiseTest('recorder/client-check', 'a client that was not driven has no good mark in the table', () => {
    const driver = { ...CLIENT, name: 'Client', package: 'client', version: '1.0.0', limits: { commit: 'no hooks' } };
    const today = new Date('2026-11-16T12:00:00.000Z');
    const lineOf = (checks: { name: string; problems: string[] }[]) =>
      table([{ driver, checks, problems: ['npm cannot install it: /me/x'] }], today, '1.2.3')
        .split('\n')
        .find((line) => line.startsWith('| Client')) ?? '';
    expect(lineOf([])).not.toMatch(/yes|no hooks/);
    const names = ['actions', 'session', 'coverage', 'commit', 'evidence', 'verify', 'verify --git'];
    expect(lineOf(names.map((name) => ({ name, problems: ['wrong'] })))).not.toMatch(/yes|no hooks/);
    expect(lineOf(names.map((name) => ({ name, problems: [] }))).match(/yes/g)).toHaveLength(6);
    const page = table([{ driver, checks: [], problems: ['npm cannot install it:\n/me/x'] }], today, describeColibri());
    expect(page).toMatch(/^Last run: 2026-11-16, Colibri \d+\.\d+\.\d+(?: \(commit [0-9a-f]{12,}(?:-dirty)?\))?, Node/);
    expect(page).toMatch(/^- Client: npm cannot install it: …$/m);
  });

  promiseTest('recorder/client-check', 'refuses words that count as observed, and deeds that count as said', () => {
    const evidence: Evidence[] = [
      { field: 'tests_run', value: TEST_COMMAND, state: 'observed' },
      { field: 'tests_run', value: UNRUN_COMMAND, state: 'said' },
      { field: 'commit_sha', value: HEAD, state: 'observed' },
      { field: 'commit_sha', value: MISSING_COMMIT, state: 'contradicted' },
    ];
    expect(checkEvidence(evidence, HEAD, CLIENT)).toEqual([]);
    expect(checkEvidence(undefined, HEAD, CLIENT)).toHaveLength(1);
    const said = evidence.map((piece) => (piece.field === 'commit_sha' ? { ...piece, state: 'said' } : piece));
    expect(checkEvidence(said, HEAD, { ...CLIENT, limits: { commit: 'runs no hooks of git' } })).toEqual([]);
    expect(checkEvidence(said, HEAD, CLIENT)).toHaveLength(2);
    for (const index of evidence.keys()) {
      const missing = evidence.filter((_, at) => at !== index);
      expect(checkEvidence(missing, HEAD, CLIENT)).toHaveLength(1);
      for (const state of ['observed', 'said', 'contradicted'].filter((other) => other !== evidence[index]?.state)) {
        const swapped = evidence.map((piece, at) => (at === index ? { ...piece, state } : piece));
        expect(checkEvidence(swapped, HEAD, CLIENT)).toHaveLength(1);
      }
    }
  });
});
