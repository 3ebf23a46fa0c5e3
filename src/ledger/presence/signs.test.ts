import { describe, expect } from 'vitest';
import { AT, enterEvent, exitEvent, openTestLedger, processIdOf } from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Database, Liveness } from '../../db/database.ts';
import { CallRecorder } from '../calls/recorder.ts';
import { hasLiveProcess, readLastSign } from './signs.ts';
import { removeStaleRows } from './stale-rows.ts';

const MINUTE = 60_000;
/** The wall clock, this many minutes after the calls of the ledger. */
const later = (minutes: number) => new Date(Date.parse(AT) + minutes * MINUTE).toISOString();
const clockAt = (nowMs: number, id = 'linux'): Liveness => ({
  clock: { id, nowMs: () => nowMs },
  isAlive: async (processId) => processId === processIdOf('alive'),
});

async function ledgerWithSigns(signs: readonly (readonly [clock: string | null, ms: number | null])[]) {
  const database = await openTestLedger();
  for (const [index, [clock, ms]] of signs.entries()) {
    const recorder = new CallRecorder(database, processIdOf(`process-${index}`));
    // Not ended, so that the next process does not replace the row.
    await recorder.enter(enterEvent(`call ${index}`));
    await setClock(database, clock, ms);
  }
  return database;
}

async function setClock(database: Database, clock: string | null, ms: number | null): Promise<void> {
  await database.write({ durable: false }, (db) =>
    db.query(
      'UPDATE presence SET clock_id = $1, clock_ms = $2 WHERE sequence_no = (SELECT MAX(sequence_no) FROM presence)',
      [clock, ms],
    ),
  );
}

describe('the last sign of life', () => {
  const cases: readonly [
    name: string,
    signs: readonly (readonly [string | null, number | null])[],
    clock: Liveness,
    at: string,
    minutes: number,
  ][] = [
    ['is read off the shared clock', [['linux', 10 * MINUTE]], clockAt(40 * MINUTE), later(30), 30],
    [
      'does not depend on a wall clock that was moved on',
      [['linux', 10 * MINUTE]],
      clockAt(11 * MINUTE),
      later(9999),
      1,
    ],
    ['does not depend on a wall clock that was moved back', [['linux', 0]], clockAt(30 * MINUTE), later(-9999), 30],
    [
      'is that of the process that called last',
      [
        ['linux', 0],
        ['linux', 9 * MINUTE],
      ],
      clockAt(10 * MINUTE),
      later(0),
      1,
    ],
    [
      'counts also if another process has another clock',
      [
        ['linux', MINUTE],
        ['darwin', 0],
      ],
      clockAt(3 * MINUTE),
      later(99),
      2,
    ],
    [
      'is taken from the wall clock after a restart of the machine',
      [['0123456789ab', 10 * MINUTE]],
      clockAt(MINUTE),
      later(20),
      20,
    ],
    [
      'is taken from the wall clock if its time is still to come',
      [['linux', 50 * MINUTE]],
      clockAt(MINUTE),
      later(20),
      20,
    ],
    ['is taken from the wall clock if it has no time', [[null, null]], clockAt(MINUTE), later(20), 20],
    ['is never in the future', [[null, null]], clockAt(MINUTE), later(-20), 0],
    [
      'does not count the time in which the machine slept',
      [['linux', 5 * MINUTE]],
      clockAt(6 * MINUTE),
      later(8 * 60),
      1,
    ],
  ];
  for (const [name, signs, clock, at, minutes] of cases)
    promiseTest('claims/clock', name, async () => {
      const database = await ledgerWithSigns(signs);
      const sign = await database.read((reader) => readLastSign(reader, clock, 'tester', at));
      expect(sign.silentMs).toBe(minutes * MINUTE);
      expect(sign.calls).toHaveLength(signs.length);
    });

  promiseTest('claims/clock', 'is as old as the clock for an actor that never called', async () => {
    const database = await ledgerWithSigns([['linux', 0]]);
    const sign = await database.read((reader) => readLastSign(reader, clockAt(MINUTE), 'stranger', AT));
    expect(sign).toEqual({ silentMs: Date.parse(AT), nowMs: Date.parse(AT), calls: [] });
  });
});

describe('the processes of an actor', () => {
  promiseTest('claims/dead-process', 'one live process among dead ones is enough', async () => {
    const database = await openTestLedger();
    for (const name of ['alive', 'dead']) {
      const recorder = new CallRecorder(database, processIdOf(name));
      await recorder.enter(enterEvent(name));
    }
    const isLive = (calls: readonly number[]) => database.read((reader) => hasLiveProcess(reader, clockAt(0), calls));
    expect(await isLive([1, 2])).toBe(true);
    expect(await isLive([2])).toBe(false);
    expect(await isLive([])).toBe(false);
  });
});

describe('the row of a call', () => {
  promiseTest(
    'claims/clock',
    'is replaced by the next call of the process, and by the next process after it ended',
    async () => {
      const database = await openTestLedger();
      const callOnce = async (recorder: CallRecorder, name: string) => {
        await recorder.enter(enterEvent(name));
        await recorder.exit(exitEvent(name));
      };
      const numbers = async () =>
        (
          await database.read((reader) => reader.query<{ sequence_no: number }>('SELECT sequence_no FROM presence'))
        ).map(({ sequence_no }) => sequence_no);
      const first = new CallRecorder(database, processIdOf('first'));
      await callOnce(first, 'one');
      await callOnce(first, 'two');
      expect(await numbers()).toEqual([3]);
      const earlier = await removeStaleRows(database);
      await callOnce(new CallRecorder(database, processIdOf('second'), { earlier }), 'three');
      expect(await numbers()).toEqual([5]);
      const open = new CallRecorder(database, processIdOf('third'), { earlier: await removeStaleRows(database) });
      await open.enter(enterEvent('four'));
      expect(await numbers()).toEqual([7]);
      const fourth = { earlier: await removeStaleRows(database) };
      await callOnce(new CallRecorder(database, processIdOf('fourth'), fourth), 'five');
      expect(await numbers()).toEqual([7, 8]);
    },
  );
});
