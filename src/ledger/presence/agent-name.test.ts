import { describe, expect, it } from 'vitest';
import { chooseName, haveSameClient, isNameOf, type KnownAgent } from './agent-name.ts';

const CLIENT = 'claude-code';
const HOUR_MS = 3_600_000;

/** A dead agent of another client process in the same folder, without a task. */
function agent(name: string, facts: Partial<KnownAgent> = {}): KnownAgent {
  const idle = { holdsTask: false, latestClaim: 0, tookFrom: null, lastCall: 1, silentMs: HOUR_MS };
  return { name, isOwn: false, isAlive: false, isOwnClient: false, isOwnFolder: true, ...idle, ...facts };
}

const live = (name: string) => agent(name, { isAlive: true });
const holder = (name: string, facts: Partial<KnownAgent> = {}) =>
  agent(name, { holdsTask: true, latestClaim: 5, lastCall: 6, ...facts });

describe('chooseName', () => {
  it('takes the name of the client if no live agent has it', () => {
    expect(chooseName(CLIENT, [])).toBe('claude-code');
    expect(chooseName(CLIENT, [live('cursor'), live('claude'), live('claude-code-2')])).toBe('claude-code');
  });

  it('takes the lowest number that is free among live agents', () => {
    expect(chooseName(CLIENT, [live('claude-code')])).toBe('claude-code#2');
    const three = [live('claude-code'), live('claude-code#2'), live('claude-code#4')];
    expect(chooseName(CLIENT, three)).toBe('claude-code#3');
    expect(chooseName(CLIENT, [agent('claude-code'), live('claude-code#2')])).toBe('claude-code');
  });

  it('keeps the name under which the process has recorded a call', () => {
    const known = [live('claude-code'), agent('claude-code#2', { isOwn: true, isAlive: true })];
    expect(chooseName(CLIENT, known)).toBe('claude-code#2');
  });

  it('respects a name that an agent was configured with', () => {
    expect(chooseName(CLIENT, [live('claude-code'), live('claude-code#2')])).toBe('claude-code#3');
  });

  it('continues the agent whose server the same client restarts, even beside a free lower name', () => {
    const known = [agent('claude-code'), agent('claude-code#2', { isOwnClient: true })];
    expect(chooseName(CLIENT, known)).toBe('claude-code#2');
  });

  it('continues the agent of the folder that still holds a task', () => {
    expect(chooseName(CLIENT, [agent('claude-code'), holder('claude-code#2')])).toBe('claude-code#2');
    const known = [holder('claude-code', { isAlive: true }), holder('claude-code#2'), holder('claude-code#3')];
    expect(chooseName(CLIENT, known.slice(0, 2))).toBe('claude-code#2');
    expect(chooseName(CLIENT, [...known.slice(0, 2), holder('claude-code#3', { isOwnFolder: false })])).toBe(
      'claude-code#2',
    );
  });

  it('takes a new name beside two agents of the folder that hold tasks: a wrapper hides which one comes back', () => {
    const known = [holder('claude-code', { lastCall: 7 }), holder('claude-code#2', { lastCall: 9 })];
    expect(chooseName(CLIENT, known)).toBe('claude-code#3');
    expect(chooseName(CLIENT, [...known, live('claude-code#3')])).toBe('claude-code#4');
    // The parent tells which one it is, where there is no wrapper.
    expect(chooseName(CLIENT, [holder('claude-code', { isOwnClient: true }), holder('claude-code#2')])).toBe(
      'claude-code',
    );
  });

  it('takes a new name beside an agent that worked while another one held a task', () => {
    const held = holder('claude-code');
    for (const facts of [{ lastCall: 7 }, { silentMs: 60_000 }]) {
      const beside = agent('claude-code#2', facts);
      expect(chooseName(CLIENT, [held, beside])).toBe('claude-code#3');
      // The second one to come back must not find the holder alone and take up its name.
      expect(chooseName(CLIENT, [held, beside, live('claude-code#3')])).toBe('claude-code#4');
      expect(chooseName(CLIENT, [held, { ...beside, isAlive: true }])).toBe('claude-code');
      expect(chooseName(CLIENT, [held, { ...beside, isOwnFolder: false }])).toBe('claude-code');
      expect(chooseName(CLIENT, [{ ...held, isOwnClient: true }, beside])).toBe('claude-code');
      // What it was called before it proved its claim.
      expect(chooseName(CLIENT, [{ ...held, tookFrom: 'claude-code#2' }, beside])).toBe('claude-code');
      expect(chooseName(CLIENT, [agent('claude-code', { lastCall: 6 }), beside])).toBe('claude-code');
    }
  });

  it('continues a holder that worked for 2 hours after the last call of another agent', () => {
    const held = holder('claude-code', { lastCall: 9, silentMs: 60_000 });
    const beside = (silentMs: number) => agent('claude-code#2', { lastCall: 7, silentMs });
    expect(chooseName(CLIENT, [held, beside(2 * HOUR_MS + 60_000)])).toBe('claude-code');
    expect(chooseName(CLIENT, [held, beside(2 * HOUR_MS + 59_999)])).toBe('claude-code#3');
    // The other one went on after the holder had ended, or both were silent over night: it may come back first.
    const late = { ...held, lastCall: 6, silentMs: 15 * HOUR_MS };
    for (const silentMs of [60_000, 3 * HOUR_MS, 15 * HOUR_MS, 16 * HOUR_MS])
      expect(chooseName(CLIENT, [late, beside(silentMs)])).toBe('claude-code#3');
    // After a restart of the machine nothing tells how long they were silent.
    const unknown = Number.POSITIVE_INFINITY;
    for (const silentMs of [60_000, unknown])
      expect(chooseName(CLIENT, [{ ...held, silentMs }, beside(unknown)])).toBe('claude-code#3');
    expect(chooseName(CLIENT, [{ ...held, silentMs: unknown }, beside(3 * HOUR_MS)])).toBe('claude-code#3');
    // Only the fencing tokens distinguish two holders.
    expect(chooseName(CLIENT, [held, holder('claude-code#2', { silentMs: 9 * HOUR_MS })])).toBe('claude-code#3');
  });

  it('takes no name that is known, if it is unknown which agent comes back: one may have lost the task', () => {
    const known = [agent('claude-code'), agent('claude-code#2', { lastCall: 9 }), holder('claude-code#3')];
    expect(chooseName(CLIENT, known)).toBe('claude-code#4');
  });

  it('continues the last of its own client if none of them holds a task', () => {
    const known = [agent('claude-code', { isOwnClient: true }), agent('claude-code#2', { isOwnClient: true })];
    expect(chooseName(CLIENT, known)).toBe('claude-code');
    expect(chooseName(CLIENT, known.toReversed())).toBe('claude-code#2');
  });

  it('takes a new name beside an agent of its own client that holds a task and one that does not', () => {
    const [held, free] = [holder('claude-code', { isOwnClient: true }), agent('claude-code#2', { isOwnClient: true })];
    expect(chooseName(CLIENT, [held, free])).toBe('claude-code#3');
    // The second one to come back must not find the holder alone and take up its name.
    expect(chooseName(CLIENT, [held, free, live('claude-code#3')])).toBe('claude-code#4');
    expect(chooseName(CLIENT, [held, { ...free, isAlive: true }])).toBe('claude-code');
    expect(chooseName(CLIENT, [held, { ...free, isOwnClient: false }])).toBe('claude-code');
  });

  it('takes a new name beside two agents of its own client that hold tasks: it may be either', () => {
    const known = [holder('claude-code', { isOwnClient: true }), holder('claude-code#2', { isOwnClient: true })];
    expect(chooseName(CLIENT, known)).toBe('claude-code#3');
    expect(chooseName(CLIENT, [...known, live('claude-code#3')])).toBe('claude-code#4');
    expect(chooseName(CLIENT, [{ ...known[0], isAlive: true } as KnownAgent, ...known.slice(1)])).toBe('claude-code#2');
  });

  it('never takes the name of a live agent or of one that holds a task elsewhere', () => {
    expect(chooseName(CLIENT, [holder('claude-code', { isAlive: true, isOwnClient: true })])).toBe('claude-code#2');
    expect(chooseName(CLIENT, [holder('claude-code', { isOwnFolder: false })])).toBe('claude-code#2');
    expect(chooseName(CLIENT, [holder('claude-code', { isOwnFolder: false, isOwnClient: true })])).toBe(
      'claude-code#2',
    );
  });

  it('does not continue an agent of another client', () => {
    const known = [holder('cursor', { isOwnClient: true }), holder('claude-code-x', { isOwnClient: true })];
    expect(chooseName(CLIENT, known)).toBe('claude-code');
  });

  it('keeps a long name within its limit, and two of them apart', () => {
    const long = 'x'.repeat(128);
    const second = chooseName(long, [live(long)]);
    expect(second).toBe(`${'x'.repeat(126)}#2`);
    expect(chooseName(long, [live(long), live(second)])).toBe(`${'x'.repeat(126)}#3`);
    const halved = chooseName(`${'x'.repeat(125)}😀x`, [live(`${'x'.repeat(125)}😀x`)]);
    expect([halved.length, halved.isWellFormed()]).toEqual([128, true]);
  });
});

describe('haveSameClient', () => {
  it('compares names without their numbers', () => {
    for (const [left, right] of [
      ['claude-code', 'claude-code#2'],
      ['claude-code#3', 'claude-code#2'],
      ['claude-code', 'claude-code'],
    ] as const)
      expect(haveSameClient(left, right)).toBe(true);
    for (const other of ['cursor', 'claude-code-2', 'claude', 'claude-code#x', 'claude-code#2#2', ''])
      expect(haveSameClient(CLIENT, other)).toBe(false);
  });
});

describe('isNameOf', () => {
  it('tells the names of a client from others', () => {
    expect(['claude-code', 'claude-code#2', 'claude-code#31'].every((name) => isNameOf(CLIENT, name))).toBe(true);
    const others = ['', 'claude', 'claude-code#', 'claude-code#0', 'claude-code#1', 'claude-code#02', 'claude-code#x'];
    for (const name of [...others, 'claude-code#2#2', 'claude-code 2', '#2'])
      expect(isNameOf(CLIENT, name)).toBe(false);
  });
});
