import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/folders.ts';
import {
  AT,
  expectWhole,
  openTestDatabase,
  openTestLedger,
  recordCalls,
  tamper,
  verifyFile,
} from '../../test/support/ledger.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { openLedger, openLedgerReadOnly } from './open.ts';

describe('opening a ledger', () => {
  promiseTest('ledger/fresh', 'one entry, the genesis', async () => {
    const database = await openTestLedger();
    expect((await expectWhole(database)).size).toBe(1);
    const rows = await database.read((reader) =>
      reader.query<{ kind: string }>("SELECT entry ->> 'kind' AS kind FROM ledger_entries"),
    );
    expect(rows).toEqual([{ kind: 'genesis' }]);
  });

  promiseTest('ledger/fresh', 'opened again it is the same', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const first = await openTestLedger({ path });
    await recordCalls(first, 20);
    const report = await expectWhole(first);
    await first.close();
    const second = await openTestLedger({ path });
    expect(await expectWhole(second)).toEqual(report);
    await openLedgerReadOnly(await openTestDatabase({ path, readOnly: true }));
  });

  it('a reader asks for the ledger to be created first', async () => {
    const path = join(tempFolder(), 'colibri.db');
    await openTestDatabase({ path });
    const reader = await openTestDatabase({ path, readOnly: true });
    await expect(openLedgerReadOnly(reader)).rejects.toThrow(/is empty.*in FULL mode/);
  });

  for (const [name, script, message] of [
    ['its last entry is gone', 'DELETE FROM ledger_entries WHERE idx = 80', /misses rows|does not match its head/],
    ['its first entry is gone', 'DELETE FROM ledger_entries WHERE idx = 0', /does not match its head/],
    [
      'its first entry is not the genesis entry',
      "UPDATE ledger_entries SET entry = '{}' WHERE idx = 0",
      /does not match its head/,
    ],
    ['its last entry is unreadable', "UPDATE ledger_entries SET entry = '{' WHERE idx = 80", /does not match its head/],
    [
      'it has grown behind the head',
      "INSERT INTO ledger_entries (idx, entry) VALUES (81, '{}')",
      /does not match its head/,
    ],
    ['its head was moved back', 'UPDATE ledger_head SET size = size - 1', /does not match its head/],
    ['its head was moved far back', 'UPDATE ledger_head SET size = 1', /does not match its head/],
    ['its head says that it is empty', 'UPDATE ledger_head SET size = 0', /does not match its head/],
    ['its head was moved forward', 'UPDATE ledger_head SET size = size + 1', /misses rows/],
    ['it has no head', 'DELETE FROM ledger_head', /no head row/],
    ['the root misses a node', 'DELETE FROM ledger_nodes WHERE idx = 0', /misses rows/],
    ['a table is gone', 'DROP TABLE ledger_nodes', /ledger_nodes/],
  ] as const) {
    promiseTest('ledger/open-check', name, async () => {
      const path = await ledgerOf40Calls();
      await tamper(path, script);
      const database = await openTestDatabase({ path });
      await expect(openLedger(database, 'tester', AT)).rejects.toThrow(message);
      await database.close();
      const reader = await openTestDatabase({ path, readOnly: true });
      await expect(openLedgerReadOnly(reader)).rejects.toThrow(message);
    });
  }
});

async function ledgerOf40Calls(): Promise<string> {
  const path = join(tempFolder(), 'colibri.db');
  const database = await openTestLedger({ path });
  await recordCalls(database, 40);
  await database.close();
  expect((await verifyFile(path)).size).toBe(81);
  return path;
}
