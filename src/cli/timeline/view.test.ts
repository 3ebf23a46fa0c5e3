import { describe, expect, it } from 'vitest';
import { EVERYTHING_HOSTILE, findRaw } from '../../../test/support/hostile-text.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { evidenceText } from '../../integrity/evidence/evidence-text.ts';
import { createStyles, toTerminal } from '../../terminal-text.ts';
import { displayWidth } from '../views/text-width.ts';
import type {
  CallEvent,
  CommitEvent,
  DecisionEvent,
  ObservedEvent,
  TimelineEvent,
  TimelineTotals,
  UsageEvent,
} from './events.ts';
import { createEventView, renderTotals } from './view.ts';

const AT = '2026-04-08T22:15:30.123Z';

const CALL: CallEvent = {
  kind: 'call',
  entry: 88,
  at: AT,
  actor: 'claude-code',
  tool: 'task_update',
  outcome: 'ok',
  exited_at: AT,
  duration_ms: 2,
  arguments: '{"status":"in_progress","task_id":"T-0005"}',
};
const DECISION: DecisionEvent = {
  kind: 'decision',
  entry: 90,
  at: AT,
  actor: 'claude-code',
  thought_id: 'Θ-0012',
  type: 'decision',
  content: 'The old key was in a log file, so it counts as leaked.\n\nA new one is in the vault.',
  session_id: 'A-0003',
  chain_position: 1,
  attempt: 1,
  hash: '0'.repeat(64),
  extras: { branch: 'main', tests_run: ['npm test', 'npm run lint'], commit_sha: '1a2b3c4' },
  evidence: [
    { field: 'tests_run', value: 'npm test', state: 'contradicted', entry: 91, exit_code: 1 },
    { field: 'tests_run', value: 'npm run lint', state: 'said' },
    { field: 'commit_sha', value: '1a2b3c4', state: 'observed', entry: 95 },
  ],
};
const OBSERVED: ObservedEvent = {
  kind: 'observed',
  entry: 91,
  at: AT,
  actor: 'hook:claude-code',
  client: 'claude-code',
  session: '4f2c7d1e-0b5a-4a0e-9a55-0d6c4a1b2c3d',
  agent: 'Explore',
  event: 'PostToolUse',
  phase: 'after',
  tool: 'Bash',
  action: 'shell',
  call_id: 'toolu_01ABC',
  outcome: 'ok',
  exit_code: 1,
  duration_ms: 1204,
  content: { command: 'npm test -- --reporter=dot' },
};
const COMMIT: CommitEvent = {
  kind: 'commit',
  entry: 95,
  at: '2026-04-09T01:02:03.004Z',
  actor: 'hook:git',
  sha: '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d',
  tree: '0'.repeat(40),
  parents: [],
  branch: 'main',
  paths: ['src/keys/rotate.ts', 'src/keys/rotate.test.ts'],
};
const USAGE: UsageEvent = {
  kind: 'usage',
  entry: 96,
  at: '2026-04-09T01:02:03.004Z',
  actor: 'hook:claude-code',
  client: 'claude-code',
  session: 's-1',
  model: 'opus',
  responses: 7,
  input_tokens: 1200,
  output_tokens: 340,
  cache_read_tokens: 0,
  cache_write_tokens: 5,
  cache_write_1h_tokens: 0,
};
const EVENTS = [CALL, DECISION, OBSERVED, COMMIT, USAGE];

const render = (width: number | undefined, events: readonly TimelineEvent[] = EVENTS, isColored = false) => {
  const view = createEventView({ terminal: { width, colors: createStyles(isColored) }, utc: true });
  return events.flatMap(view);
};
const outcomeOf = (changes: Partial<ObservedEvent>) => {
  const { exit_code: _code, outcome: _outcome, duration_ms: _duration, ...event } = OBSERVED;
  return render(undefined, [{ ...event, ...changes, content: {} }])[0]
    ?.replace(/^.*Bash ?/, '')
    .replace(/ ?call .*/, '');
};

describe('the timeline on a terminal', () => {
  promiseTest('cli/timeline-view', 'shows each kind of event, below its day', () => {
    expect(render(80)).toEqual([
      '2026-04-08',
      '   #88 22:15:30 → claude-code task_update ok 2 ms status: in_progress',
      '   #90 22:15:30 ● claude-code decision Θ-0012 · A-0003',
      '                │ The old key was in a log file, so it counts as leaked.',
      '                │',
      '                │ A new one is in the vault.',
      '                │ tests_run: npm test (contradicted: exit 1, entry #91)',
      '                │ tests_run: npm run lint (said)',
      '                │ commit_sha: 1a2b3c4 (observed: entry #95)',
      '                │ branch: main',
      '   #91 22:15:30 ▸ claude-code › Explore Bash exit 1 1204 ms',
      '                │ npm test -- --reporter=dot',
      '                │ call toolu_01ABC',
      '                │ session 4f2c7d1e-0b5a-4a0e-9a55-0d6c4a1b2c3d',
      '2026-04-09',
      '   #95 01:02:03 ◆ hook:git commit 1a2b3c4d5e6f on main',
      '                │ src/keys/rotate.ts, src/keys/rotate.test.ts',
      '   #96 01:02:03 + claude-code 1,200 tokens in, 340 out, 0 cached,',
      '                  5 cache writes, 7 responses of opus',
    ]);
  });

  promiseTest('cli/timeline-view', 'fits every width and breaks no word', () => {
    const text = 'Retry webhooks with a growing pause because the vendor drops bursts. '.repeat(9).trim();
    const events = [...EVENTS, { ...DECISION, content: text }, { ...OBSERVED, content: { command: text } }];
    for (const width of [40, 60, 80, 120, 200]) {
      const lines = render(width, events);
      expect(lines.filter((line) => displayWidth(line) > width)).toEqual([]);
      const words = lines
        .join(' ')
        .split(/[\s│]+/)
        .map((word) => word.replace(/…$/, ''));
      const known = new Set(`${text} `.split(' '));
      for (const word of words.filter((found) => /^[A-Z]?[a-z]+\.?$/.test(found)))
        if ([...known].some((whole) => whole.startsWith(word.slice(0, 3)))) expect(known).toContain(word);
    }
    for (const width of [20, 30])
      expect(render(width, events).filter((line) => displayWidth(line) > width)).toEqual([]);
  });

  promiseTest('cli/timeline-view', 'escapes what agents and clients wrote, with and without colors', () => {
    const text = EVERYTHING_HOSTILE;
    const hostile: TimelineEvent[] = [
      { ...CALL, actor: text, tool: text, outcome: text, arguments: text },
      { ...CALL, arguments: JSON.stringify({ [text]: text }) },
      { ...DECISION, actor: text, content: text, extras: { [text]: [text] }, evidence: [] },
      { ...DECISION, evidence: [{ field: 'tests_run', value: text, state: 'said' }] },
      { ...OBSERVED, client: text, agent: text, tool: text, call_id: text, session: text, content: { command: text } },
      { ...COMMIT, branch: text, paths: [text] },
      { ...USAGE, client: text, agent: text, model: text },
      { kind: 'unreadable', entry: 7, at: text, actor: text },
    ];
    for (const width of [undefined, 20, 80, 120])
      for (const hasColors of [false, true]) {
        const shown = render(width, hostile, hasColors).map(toTerminal).join('\n');
        expect(findRaw(shown, { hasColors })).toEqual([]);
        expect(shown).toContain(String.raw`\u001b`);
      }
  });

  it('leaves the text of a decision to the decision, and shows it if the call was refused', () => {
    const thought = { ...CALL, tool: 'thought_record', arguments: '{"content":"because","task_id":"T-0005"}' };
    expect(render(80, [thought])).toHaveLength(2);
    expect(render(80, [{ ...thought, outcome: 'ERR_SESSION_REQUIRED' }]).at(-1)).toContain('content: because');
    expect(render(40, [CALL]).at(-1)).toBe('                │ status: in_progress');
  });
});

describe('the timeline in a pipe', () => {
  promiseTest('cli/timeline-view', 'has one uncut line per event, without a day of its own', () => {
    const lines = render(undefined, [...EVENTS, { ...DECISION, content: `${'long '.repeat(500)}end` }]);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe('   #88 2026-04-08 22:15:30Z call       claude-code task_update ok 2 ms status: in_progress');
    expect(lines[5]).toMatch(/long end tests_run: npm test \(contradicted: exit 1, entry #91\) .* branch: main$/);
  });
});

describe('the outcome of an observed action', () => {
  it.each([
    [{ exit_code: 0, outcome: 'ok' }, 'exit 0'],
    [{ exit_code: 137, outcome: 'failed' }, 'exit 137'],
    [{ outcome: 'failed' }, 'failed'],
    [{ phase: 'failed', outcome: 'unknown' }, 'exit code unknown'],
    [{ phase: 'failed', outcome: 'unknown', action: 'edit' }, 'outcome unknown'],
    [{ phase: 'failed' }, 'failed'],
    [{ outcome: 'ok' }, 'exit code unknown'],
    [{ outcome: 'unknown' }, 'exit code unknown'],
    [{ action: 'edit', outcome: 'ok' }, 'ok'],
    [{ action: 'edit', outcome: 'unknown' }, 'outcome unknown'],
    [{ action: 'edit' }, ''],
  ])('%j is shown as %j', (changes, expected) => expect(outcomeOf(changes)).toBe(expected));
});

describe('the evidence beside a decision', () => {
  it.each([
    [{ field: 'tests_run', state: 'observed', entry: 7, exit_code: 0 }, 'observed: exit 0, entry #7'],
    [{ field: 'tests_run', state: 'contradicted', entry: 7, failed: true }, 'contradicted: failed, entry #7'],
    [{ field: 'tests_run', state: 'said', entry: 7 }, 'said: exit code unknown, entry #7'],
    [{ field: 'tests_run', state: 'said' }, 'said'],
    [{ field: 'commit_sha', state: 'observed', entry: 7 }, 'observed: entry #7'],
    [{ field: 'commit_sha', state: 'contradicted' }, 'contradicted: not recorded'],
  ] as const)('%j is shown as %j', (item, expected) => expect(evidenceText({ value: 'x', ...item })).toBe(expected));
});

describe('the totals', () => {
  const TOTALS: TimelineTotals = {
    kind: 'totals',
    task_id: 'T-0005',
    title: 'One',
    status: 'done',
    calls: 1,
    decisions: 2,
    observed: 100_000,
    commits: 0,
    usage: 0,
    unreadable: 0,
    shown: 100_003,
  };
  const say = (changes: Partial<TimelineTotals>) =>
    renderTotals({ ...TOTALS, ...changes }, { width: undefined, colors: createStyles(false) });

  it('counts totals exactly, and reports what is left out or cannot be read', () => {
    expect(say({})).toEqual(['T-0005 has 1 call, 2 decisions, 100,000 observed actions, 0 commits.']);
    expect(say({ shown: 20 })[0]).toMatch(/ The last 20 of 100,003 are shown\.$/);
    expect(say({ unreadable: 1, shown: 100_004 })[0]).toMatch(/ 1 entry cannot be read: run colibri verify\.$/);
  });
});
