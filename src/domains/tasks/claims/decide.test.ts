import { describe, expect, it } from 'vitest';
import { type ClaimResult, claimAfter, DEAD_PROCESS_TTL_MS, dependsOnProcess, isLapsed } from './decide.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('isLapsed', () => {
  const task = { status: 'in_progress', holder: 'alice' as string | null };
  const silent = (silentMs: number, hasProcess = true) => ({ silentMs, hasProcess });

  const cases: readonly [string, Partial<typeof task>, ReturnType<typeof silent>, number | undefined, boolean][] = [
    ['a holder that has just called', {}, silent(0), 2 * HOUR, false],
    ['a millisecond before the time is over', {}, silent(2 * HOUR - 1), 2 * HOUR, false],
    ['when the time is over', {}, silent(2 * HOUR), 2 * HOUR, true],
    ['long after', {}, silent(999 * HOUR), 2 * HOUR, true],
    ['a dead process before ten minutes', {}, silent(10 * MINUTE - 1, false), 2 * HOUR, false],
    ['a dead process after ten minutes', {}, silent(10 * MINUTE, false), 2 * HOUR, true],
    ['a dead process where the configured time is shorter', {}, silent(MINUTE, false), MINUTE, true],
    ['a dead process before a shorter configured time', {}, silent(MINUTE - 1, false), MINUTE, false],
    ['a live process where no time is configured', {}, silent(999 * HOUR), undefined, false],
    [
      'a dead process before ten minutes where no time is configured',
      {},
      silent(10 * MINUTE - 1, false),
      undefined,
      false,
    ],
    ['a dead process after ten minutes where no time is configured', {}, silent(10 * MINUTE, false), undefined, true],
    ['a blocked task', { status: 'blocked' }, silent(999 * HOUR, false), 2 * HOUR, false],
    ['a person', { holder: 'person:ada' }, silent(999 * HOUR, false), 2 * HOUR, false],
    ['an agent with a name like a person', { holder: 'personal' }, silent(2 * HOUR), 2 * HOUR, true],
    ['a task without a holder', { holder: null }, silent(999 * HOUR, false), 2 * HOUR, false],
    ['a pipeline task', { status: 'APPLY' }, silent(2 * HOUR), 2 * HOUR, true],
  ];
  for (const [name, fields, state, ttlMs, expected] of cases)
    it(`${name}: ${expected ? 'lapsed' : 'not lapsed'}`, () => {
      expect(isLapsed({ ...task, ...fields }, state, ttlMs)).toBe(expected);
    });
});

describe('dependsOnProcess', () => {
  it('asks for processes only between ten minutes and the configured time', () => {
    expect(dependsOnProcess(DEAD_PROCESS_TTL_MS - 1, 2 * HOUR)).toBe(false);
    expect(dependsOnProcess(DEAD_PROCESS_TTL_MS, 2 * HOUR)).toBe(true);
    expect(dependsOnProcess(2 * HOUR, 2 * HOUR)).toBe(false);
    expect(dependsOnProcess(DEAD_PROCESS_TTL_MS, MINUTE)).toBe(false);
    expect(dependsOnProcess(DEAD_PROCESS_TTL_MS - 1, undefined)).toBe(false);
    expect(dependsOnProcess(999 * HOUR, undefined)).toBe(true);
  });
});

describe('claimAfter', () => {
  const free = { holder: null, taken_from: null };
  const held = { holder: 'alice', taken_from: null };
  const result = (holder: string | null, taken_from: string | null, isNew: boolean): ClaimResult => ({
    holder,
    taken_from,
    isNew,
  });
  type Before = { readonly holder: string | null; readonly taken_from: string | null };

  /** What bob's step makes of the claim, or alice's. */
  const cases: readonly [string, string, Before, 'alice' | 'bob', string | undefined, ClaimResult][] = [
    ['todo', 'a start claims', free, 'bob', 'in_progress', result('bob', null, true)],
    ['blocked', 'a restart claims', free, 'bob', 'in_progress', result('bob', null, true)],
    ['INIT', 'the first step of a pipeline claims', free, 'bob', 'GATHER', result('bob', null, true)],
    ['backlog', 'a step to todo does not claim', free, 'bob', 'todo', result(null, null, false)],
    ['todo', 'blocking a free task does not claim', free, 'bob', 'blocked', result(null, null, false)],
    ['todo', 'a change of other fields does not claim', free, 'bob', undefined, result(null, null, false)],
    ['VERIFY', 'a reopening has no holder', free, 'bob', 'GATHER', result(null, null, false)],
    ['in_progress', 'the holder continues', held, 'alice', undefined, result('alice', null, false)],
    ['in_progress', 'the holder blocks and keeps it', held, 'alice', 'blocked', result('alice', null, false)],
    ['blocked', 'the holder restarts with a new token', held, 'alice', 'in_progress', result('alice', null, true)],
    ['blocked', 'a free task after todo', held, 'alice', 'todo', result(null, null, false)],
    ['in_progress', 'review ends it', held, 'alice', 'review', result(null, null, false)],
    ['in_progress', 'cancelling ends it', held, 'alice', 'cancelled', result(null, null, false)],
    ['APPLY', 'VERIFY ends it', held, 'alice', 'VERIFY', result(null, null, false)],
    ['GATHER', 'the next step of a pipeline keeps it', held, 'alice', 'ANALYZE', result('alice', null, false)],
    ['in_progress', 'a repeated status takes over', held, 'bob', 'in_progress', result('bob', 'alice', true)],
    ['PLAN', 'a repeated state takes over', held, 'bob', 'PLAN', result('bob', 'alice', true)],
    ['in_progress', 'blocking by another takes over', held, 'bob', 'blocked', result('bob', 'alice', true)],
    ['in_progress', 'review by another ends it', held, 'bob', 'review', result(null, 'alice', true)],
    ['in_progress', 'a title by another changes nothing', held, 'bob', undefined, result('alice', null, false)],
    ['in_progress', 'a repeated status claims a free task', free, 'bob', 'in_progress', result('bob', null, true)],
    ['blocked', 'a repeated blocked claims nothing', free, 'bob', 'blocked', result(null, null, false)],
    ['review', 'a repeated review claims nothing', free, 'bob', 'review', result(null, null, false)],
    [
      'blocked',
      'a restart by the holder remembers the takeover',
      { holder: 'bob', taken_from: 'alice' },
      'bob',
      'in_progress',
      result('bob', 'alice', true),
    ],
    [
      'todo',
      'a claim of a free task forgets an old takeover',
      { holder: null, taken_from: 'alice' },
      'bob',
      'in_progress',
      result('bob', null, true),
    ],
    [
      'in_progress',
      'a takeover names the last holder',
      { holder: 'alice', taken_from: 'carol' },
      'bob',
      'in_progress',
      result('bob', 'alice', true),
    ],
  ];
  for (const [status, name, before, actor, wanted, expected] of cases)
    it(`${status}: ${name}`, () => {
      const workflow = status === status.toUpperCase() ? 'pipeline' : 'board';
      expect(claimAfter({ workflow, status, ...before }, { actor, status: wanted })).toEqual(expected);
    });
});
