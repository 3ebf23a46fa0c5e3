import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import {
  AT,
  enterEvent,
  exitEvent,
  expectWhole,
  openTestDatabase,
  openTestLedger,
  processIdOf,
  recordCalls,
} from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Database } from '../../db/database.ts';
import { closeInterruptedCalls } from './interrupted.ts';
import { CallRecorder } from './recorder.ts';

interface ActionRow {
  readonly sequence_no: number;
  readonly outcome: string;
}

describe('the call recorder', () => {
  promiseTest('ledger/once', 'an enter and an exit make one row', async () => {
    const database = await openTestLedger();
    await recordCalls(database, 3);
    expect(await actions(database)).toEqual([
      { sequence_no: 1, outcome: 'ok' },
      { sequence_no: 3, outcome: 'ok' },
      { sequence_no: 5, outcome: 'INVALID_PARAMS' },
    ]);
    const pair = ['action.enter', 'action.exit'];
    expect(await kinds(database)).toEqual(['genesis', ...pair, ...pair, ...pair]);
    await expectWhole(database);
  });

  promiseTest('ledger/once', 'an exit without a recorded enter writes nothing', async () => {
    const database = await openTestLedger();
    const log = new CallRecorder(database, processIdOf('here'));
    await log.exit(exitEvent('never entered'));
    await log.enter(enterEvent('one'));
    await log.exit(exitEvent('another'));
    expect(await kinds(database)).toEqual(['genesis', 'action.enter']);
    await expectWhole(database);
  });

  promiseTest('store/durable', 'the two entries of a call that changes nothing do not wait', async () => {
    const waits: boolean[] = [];
    await recordCalls(watching(await openTestLedger(), waits), 2);
    expect(waits).toEqual([false, false, false, false]);
  });

  promiseTest('ledger/once', 'an exit that was rolled back with its change can be recorded again', async () => {
    const database = await openTestLedger();
    const log = new CallRecorder(database, processIdOf('here'));
    await log.enter(enterEvent('one'));
    const change = log.run('one', async (transaction) => {
      await transaction.exit(exitEvent('one'));
      throw new Error('the change fails after all');
    });
    await expect(change).rejects.toThrow('after all');
    expect(await actions(database)).toEqual([{ sequence_no: 1, outcome: 'running' }]);
    await log.exit(exitEvent('one', 'AUDIT_EXIT_FAILED'));
    expect(await actions(database)).toEqual([{ sequence_no: 1, outcome: 'AUDIT_EXIT_FAILED' }]);
    await expectWhole(database);
  });

  promiseTest('fault/exit', 'it is written before the next enter, in the same transaction', async () => {
    const database = await openTestLedger();
    const log = new CallRecorder(database, processIdOf('here'));
    await log.enter(enterEvent('one'));
    await refuseExits(database);
    await expect(log.exit(exitEvent('one'))).rejects.toThrow('no exits today');
    await expect(log.enter(enterEvent('two'))).rejects.toThrow('no exits today');
    expect(await kinds(database)).toEqual(['genesis', 'action.enter']);
    await database.write({ durable: false }, (transaction) => transaction.run('DROP TRIGGER refusing'));
    await log.enter(enterEvent('three'));
    await log.exit(exitEvent('three'));
    expect(await kinds(database)).toEqual(['genesis', 'action.enter', 'action.exit', 'action.enter', 'action.exit']);
    expect((await actions(database)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    await expectWhole(database);
  });
});

describe('open calls of a dead process', () => {
  promiseTest('fault/killed', 'calls of a live process stay open', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const [living, next] = [await openTestLedger({ path }), await openTestDatabase({ path })];
    await living.enlist(processIdOf('living'));
    await new CallRecorder(living, processIdOf('dead')).enter(enterEvent('one'));
    await new CallRecorder(living, processIdOf('living')).enter(enterEvent('two'));
    expect(await closeInterruptedCalls(next, 'next', AT)).toBe(1);
    expect(await closeInterruptedCalls(next, 'next', AT)).toBe(0);
    expect((await actions(next)).map(({ outcome }) => outcome)).toEqual(['interrupted', 'running']);
    await expectWhole(next);
  });

  promiseTest('fault/killed', 'several servers that start at once close it once', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const first = await openTestLedger({ path });
    await new CallRecorder(first, processIdOf('dead')).enter(enterEvent('one'));
    const servers = [first, await openTestDatabase({ path }), await openTestDatabase({ path })];
    const counts = await Promise.all(servers.map((server) => closeInterruptedCalls(server, 'next', AT)));
    expect(counts.filter((count) => count === 1)).toHaveLength(1);
    expect(counts.filter((count) => count === 0)).toHaveLength(2);
    expect(await kinds(first)).toEqual(['genesis', 'action.enter', 'action.interrupted']);
    await expectWhole(first);
  });

  promiseTest('ledger/once', 'a process taken for dead cannot exit its call again', async () => {
    const database = await openTestLedger();
    const log = new CallRecorder(database, processIdOf('taken-for-dead'));
    await log.enter(enterEvent('one'));
    await closeInterruptedCalls(database, 'next', AT);
    const change = log.run('one', async (transaction) => transaction.exit(exitEvent('one')));
    await expect(change).rejects.toThrow(/call 1 was closed as interrupted/);
    await expect(log.exit(exitEvent('one'))).rejects.toThrow(/call 1 was closed as interrupted/);
    await log.enter(enterEvent('two'));
    await log.exit(exitEvent('two'));
    expect((await actions(database)).map(({ outcome }) => outcome)).toEqual(['interrupted', 'ok']);
    await expectWhole(database);
  });
});

function actions(database: Database): Promise<ActionRow[]> {
  const sql = 'SELECT sequence_no, outcome FROM actions ORDER BY sequence_no';
  return database.read((reader) => reader.query<ActionRow>(sql));
}

async function kinds(database: Database): Promise<string[]> {
  const sql = "SELECT entry ->> 'kind' AS kind FROM ledger_entries ORDER BY idx";
  return (await database.read((reader) => reader.query<{ kind: string }>(sql))).map(({ kind }) => kind);
}

async function refuseExits(database: Database): Promise<void> {
  await database.write({ durable: false }, (transaction) =>
    transaction.run(`CREATE TRIGGER refusing BEFORE INSERT ON ledger_entries WHEN NEW.entry ->> 'kind' = 'action.exit'
      BEGIN SELECT RAISE(ABORT, 'no exits today'); END`),
  );
}

/** Notes for each transaction whether it waits for the disk. */
function watching(database: Database, waits: boolean[]): Database {
  return {
    engine: database.engine,
    location: database.location,
    clock: database.clock,
    read: (work) => database.read(work),
    write: (options, work) => {
      waits.push(options.durable !== false);
      return database.write(options, work);
    },
    enterCall: (call, work) => {
      waits.push(false);
      return database.enterCall(call, work);
    },
    connectionCount: () => database.connectionCount(),
    schemaVersion: () => database.schemaVersion(),
    enlist: (processId) => database.enlist(processId),
    isAlive: (processId) => database.isAlive(processId),
    durability: () => database.durability(),
    close: () => database.close(),
  };
}
