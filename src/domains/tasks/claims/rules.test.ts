import { describe, expect, it } from 'vitest';
import { ColibriError } from '../../../errors.ts';
import { newTask } from '../change.ts';
import type { Task } from '../record.ts';
import { assertClaimAllows, type ClaimFacts, type ClaimRequest, isGuarded } from './rules.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-04-08T12:00:00.000Z');
const fresh = newTask(
  { title: 'a task' },
  {
    task_id: 'T-0042',
    sequence: 1,
    project: 'ours',
    workflow: 'board',
    at: '2026-04-08T09:00:00.000Z',
    actor: 'alice',
  },
);
const held = { ...fresh, status: 'in_progress', holder: 'alice' };
const latest = { by: 'alice', at: '2026-04-08T10:00:00.000Z', token: 7 };
const loss = { by: 'alice', at: '2026-04-08T11:00:00.000Z', token: 7 };
const live = { silentMs: HOUR, hasProcess: true };
const silent = { silentMs: 2 * HOUR, hasProcess: true };
const facts: ClaimFacts = { token: 7, latest, loss: undefined, holder: live, nowMs: NOW, ttlMs: 2 * HOUR };
const byBob: ClaimRequest = { actor: 'bob', status: 'in_progress', token: undefined, isGuarded: true };

function refusal(task: Task, request: ClaimRequest, known: ClaimFacts): ColibriError | undefined {
  try {
    assertClaimAllows(task, request, known);
    return undefined;
  } catch (error) {
    if (error instanceof ColibriError) return error;
    throw error;
  }
}

describe('assertClaimAllows', () => {
  it('refuses a guarded change of another actor and says when the claim lapses', () => {
    const error = refusal(held, byBob, facts);
    expect(error?.code).toBe('ERR_CLAIM_HELD');
    expect(error?.facts).toEqual({
      taskId: 'T-0042',
      holder: 'alice',
      since: '2026-04-08T10:00:00.000Z',
      last_sign_of_life: '2026-04-08T11:00:00.000Z',
      lapses_at: '2026-04-08T13:00:00.000Z',
    });
    expect(error?.message).toMatch(/^T-0042 is held by alice since .*lapses at .*; call task_next_actions/);
  });

  it('names the ten minutes of a dead process, and no time for a claim that does not lapse', () => {
    const dead = { silentMs: HOUR / 12, hasProcess: false };
    const lapsesAt = (known: Partial<ClaimFacts>, task = held) =>
      refusal(task, byBob, { ...facts, ...known })?.facts['lapses_at'];
    expect(lapsesAt({ holder: dead })).toBe('2026-04-08T12:05:00.000Z');
    expect(lapsesAt({ ttlMs: undefined })).toBeNull();
    expect(lapsesAt({ holder: silent }, { ...held, status: 'blocked' })).toBeNull();
    expect(lapsesAt({ holder: silent }, { ...held, holder: 'person:ada' })).toBeNull();
  });

  it('allows changes of the holder, of other fields, of a lapsed claim, and forced ones', () => {
    expect(refusal(held, { ...byBob, actor: 'alice' }, { ...facts, holder: undefined })).toBeUndefined();
    expect(refusal(held, { ...byBob, status: undefined, isGuarded: false }, facts)).toBeUndefined();
    expect(refusal(held, byBob, { ...facts, holder: silent })).toBeUndefined();
    expect(refusal(held, { ...byBob, isForced: true }, facts)).toBeUndefined();
  });

  it('tells a former holder by whom, when and with which token the claim was taken', () => {
    for (const known of [facts, { ...facts, holder: undefined }]) {
      const error = refusal(held, { ...byBob, status: 'review' }, { ...known, loss });
      expect(error?.code).toBe('ERR_CLAIM_LOST');
      expect(error?.facts).toEqual({
        taskId: 'T-0042',
        taken_by: 'alice',
        taken_at: '2026-04-08T11:00:00.000Z',
        claim: 7,
        holder: 'alice',
      });
    }
  });

  it('lets a former holder that sends the latest token act like any other agent', () => {
    const inReview = { ...fresh, status: 'review' };
    const known = { ...facts, loss, holder: undefined };
    const done = { ...byBob, status: 'done' };
    const unaware = refusal(inReview, done, known);
    expect(unaware?.code).toBe('ERR_CLAIM_LOST');
    expect(unaware?.message).toContain('send "claim":7');
    expect(refusal(inReview, { ...done, token: 7 }, known)).toBeUndefined();
    expect(refusal(inReview, { ...done, token: 6 }, known)?.code).toBe('ERR_CLAIM_LOST');
    expect(refusal(held, { ...byBob, token: 7 }, { ...facts, loss })?.code).toBe('ERR_CLAIM_HELD');
  });

  it('lets a former holder claim again once the new claim has lapsed, and not before', () => {
    expect(refusal(held, byBob, { ...facts, loss, holder: silent })).toBeUndefined();
    expect(refusal(held, byBob, { ...facts, loss })?.code).toBe('ERR_CLAIM_LOST');
    expect(refusal(held, { ...byBob, status: undefined }, { ...facts, loss, holder: silent })?.code).toBe(
      'ERR_CLAIM_LOST',
    );
  });

  for (const [name, token, known, code] of [
    ['the token of the latest claim', 7, {}, undefined],
    ['an older token', 6, {}, 'ERR_CLAIM_LOST'],
    ['a token from the future', 8, {}, 'ERR_CLAIM_LOST'],
    ['the token of a task that was never claimed', 7, { token: null, latest: undefined }, 'ERR_CLAIM_LOST'],
  ] as const)
    it(`${name}, sent under the name of the holder: ${code ?? 'allowed'}`, () => {
      const request = { ...byBob, actor: 'alice', token };
      const error = refusal(held, request, { ...facts, holder: undefined, ...known });
      expect(error?.code).toBe(code);
      const unguarded = { ...request, status: undefined, isGuarded: false };
      expect(refusal(held, unguarded, { ...facts, holder: undefined, ...known })?.code).toBe(code);
    });
});

describe('isGuarded', () => {
  it('covers status, progress, assignee and blocked_reason, also when they are cleared', () => {
    for (const field of ['status', 'progress', 'assignee', 'blocked_reason'])
      expect(isGuarded({ [field]: field === 'progress' ? 0 : null })).toBe(true);
    expect(isGuarded({})).toBe(false);
    expect(isGuarded({ title: 'x', labels: [] } as object)).toBe(false);
  });
});
