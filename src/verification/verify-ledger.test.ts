import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempFolder } from '../../test/support/folders.ts';
import {
  AT,
  enterEvent,
  openTestDatabase,
  openTestLedger,
  processIdOf,
  queryFile,
  recordCalls,
  tamper,
  verifyFile,
} from '../../test/support/ledger.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { closeInterruptedCalls } from '../ledger/calls/interrupted.ts';
import { CallRecorder } from '../ledger/calls/recorder.ts';
import { verifyTables } from './verify-ledger.ts';

/** The calls of these tests: 40 finished from entry 1 on, then an interrupted one (81, 82) and a running one (83). */
const SIZE = 84;
const INTERRUPTED = 81;
const RUNNING = 83;
const REOPENED = 'exit_idx = NULL, exited_at = NULL, outcome = NULL, duration_ms = NULL';

const changes: readonly (readonly [name: string, script: string, place: string])[] = [
  ['an actor in an entry', replaceIn(20, '"tester"', '"mallet"'), 'node 4/1'],
  [
    'an entry and its row alike',
    `${replaceIn(21, '"tester"', '"mallet"')}; ${setCall(21, 'actor', 'mallet')}`,
    'node 4/1',
  ],
  ['a field that no row repeats', replaceIn(4, '"answer":"', '"answer":"0'), 'node 4/0'],
  ['a space in an entry', replaceIn(5, '":"', '": "'), 'entry 5'],
  ['an entry that is no JSON', replaceIn(5, '{', ''), 'entry 5'],
  ['an entry that is no object', "UPDATE ledger_entries SET entry = '[]' WHERE idx = 83", 'entry 83'],
  ['an outcome in an entry at the end', replaceIn(80, '"ok"', '"OK"'), 'call 79'],
  ['the kind of an entry', "UPDATE ledger_entries SET kind = 'genesis' WHERE idx = 7", 'entry 7'],
  ['a deleted entry', 'DELETE FROM ledger_entries WHERE idx = 33', 'entry 33'],
  ['two swapped entries', swap(3, 5), 'node 4/0'],
  ['two swapped entries at the end', swap(80, 81), 'call 80'],
  ['a genesis that is something else', `${replaceIn(0, 'genesis', 'genesys')}; ${setKind(0, 'genesys')}`, 'entry 0'],
  [
    'a kind that there is not',
    `${replaceIn(80, 'action.exit', 'action.rest')}; ${setKind(80, 'action.rest')}`,
    'entry 80',
  ],
  ['a second genesis', `${replaceIn(80, 'action.exit', 'genesis')}; ${setKind(80, 'genesis')}`, 'entry 80'],
  ['a second exit of one call', `${copyEntry(80)}; UPDATE ledger_head SET size = size + 1`, 'entry 84'],
  ['a second interruption', `${copyEntry(82)}; UPDATE ledger_head SET size = size + 1`, 'entry 84'],
  ['an entry behind the head', copyEntry(80), 'ledger_entries'],
  [
    'an entry before the first',
    'INSERT INTO ledger_entries SELECT -1, kind, entry FROM ledger_entries WHERE idx = 0',
    'ledger_entries',
  ],
  ['a head that is too small', 'UPDATE ledger_head SET size = size - 1', 'ledger_entries'],
  ['a head that is too large', 'UPDATE ledger_head SET size = size + 1', 'entry 84'],
  ['a changed node', "UPDATE ledger_nodes SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE idx = 3", 'node 4/3'],
  ['a deleted node', 'DELETE FROM ledger_nodes WHERE idx = 2', 'node 4/2'],
  ['a node too many', "INSERT INTO ledger_nodes VALUES (4, 5, 'ab')", 'ledger_nodes'],
  ['a node of a level that is not stored', "INSERT INTO ledger_nodes VALUES (3, 0, 'ab')", 'ledger_nodes'],
  ['a node moved elsewhere', 'UPDATE ledger_nodes SET level = 8 WHERE idx = 0', 'node 4/0'],
  ['a deleted call', 'DELETE FROM calls WHERE sequence_no = 1', 'call 1'],
  ['a deleted running call', `DELETE FROM calls WHERE sequence_no = ${RUNNING}`, `call ${RUNNING}`],
  ['a call that no entry knows', copyCall(2), 'call 2'],
  ['a call behind the head', copyCall(SIZE), 'calls'],
  ['a call before the first entry', copyCall(-5), 'calls'],
  ['other arguments', setCall(1, 'arguments', '{}'), 'call 1'],
  [
    'arguments that hide others',
    `UPDATE calls SET arguments = arguments || char(30) || salt WHERE sequence_no = 9`,
    'call 9',
  ],
  [
    'another salt',
    `UPDATE calls SET salt = (SELECT salt FROM calls WHERE sequence_no = 3) WHERE sequence_no = 1`,
    'call 1',
  ],
  ['a salt that is no salt', setCall(1, 'salt', 'salt'), 'call 1'],
  ['a finished call made running', `UPDATE calls SET ${REOPENED} WHERE sequence_no = 1`, 'call 1'],
  ['an interrupted call made to look well', setCall(INTERRUPTED, 'outcome', 'ok'), `call ${INTERRUPTED}`],
];

describe('verification', () => {
  promiseTest('ledger/fresh', 'with finished, interrupted and running calls', async () => {
    expect((await verifyFile(await honestFile())).size).toBe(SIZE);
  });

  for (const [name, script, place] of changes) {
    promiseTest('ledger/tamper', name, async () => {
      const path = await honestFile();
      await tamper(path, script);
      expect(await findPlaces(path)).toContain(place);
    });
  }

  /** A row of each sort, by its rowid. */
  const rows: Readonly<Record<string, readonly number[]>> = {
    ledger_entries: [0, 1, 2, 80, 82, RUNNING],
    ledger_head: [1],
    ledger_nodes: [1, 2, 3, 4, 5],
    calls: [1, 5, INTERRUPTED, RUNNING],
  };

  promiseTest('ledger/tamper', 'every table of the log is looked at', async () => {
    const stored = await queryFile<{ name: string }>(
      await honestFile(),
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name LIKE 'ledger%' OR name = 'calls') ORDER BY name",
    );
    expect(stored.map(({ name }) => name)).toEqual(Object.keys(rows).sort());
  });

  for (const [table, rowids] of Object.entries(rows)) {
    promiseTest('ledger/tamper', `every column of ${table}`, async () => {
      const honest = await honestFile();
      const columns = await queryFile<{ name: string }>(honest, `SELECT name FROM pragma_table_info('${table}')`);
      const copy = join(tempFolder(), 'copy.db');
      for (const { name } of columns) {
        for (const rowid of rowids) {
          cpSync(honest, copy);
          await tamper(copy, `PRAGMA ignore_check_constraints = ON; ${changeColumn(table, name, rowid)}`);
          expect([name, rowid, (await findPlaces(copy)).length > 0]).toEqual([name, rowid, true]);
        }
      }
    });
  }
});

function replaceIn(index: number, from: string, to: string): string {
  return `UPDATE ledger_entries SET entry = replace(entry, '${from}', '${to}') WHERE idx = ${index}`;
}

function setKind(index: number, kind: string): string {
  return `UPDATE ledger_entries SET kind = '${kind}' WHERE idx = ${index}`;
}

function setCall(sequenceNo: number, column: string, value: string): string {
  return `UPDATE calls SET ${column} = '${value}' WHERE sequence_no = ${sequenceNo}`;
}

function swap(one: number, two: number): string {
  const move = (from: number, to: number) => `UPDATE ledger_entries SET idx = ${to} WHERE idx = ${from}`;
  return [move(one, 1000), move(two, one), move(1000, two)].join('; ');
}

function copyEntry(index: number): string {
  return `INSERT INTO ledger_entries SELECT ${SIZE}, kind, entry FROM ledger_entries WHERE idx = ${index}`;
}

function copyCall(sequenceNo: number): string {
  return `INSERT INTO calls SELECT ${sequenceNo}, tool, actor, process_id, entered_at, arguments, salt, exit_idx, exited_at,
    outcome, duration_ms FROM calls WHERE sequence_no = 1`;
}

function changeColumn(table: string, column: string, rowid: number): string {
  return `UPDATE ${table} SET ${column} = CASE typeof(${column})
    WHEN 'text' THEN ${column} || 'x' WHEN 'null' THEN 7 ELSE ${column} + 1000 END WHERE rowid = ${rowid}`;
}

async function honestFile(): Promise<string> {
  const path = join(tempFolder(), 'colibri.db');
  const database = await openTestLedger({ path });
  await recordCalls(database, 40);
  await new CallRecorder(database, processIdOf('dead')).enter(enterEvent('interrupted'));
  await closeInterruptedCalls(database, 'next server', AT);
  await new CallRecorder(database, processIdOf('alive')).enter(enterEvent('running'));
  await database.close();
  return path;
}

/** The places that a verifier complains about; a ledger that cannot be read at all is one. */
async function findPlaces(path: string): Promise<string[]> {
  const database = await openTestDatabase({ path, readOnly: true });
  try {
    const { problems } = await database.read(verifyTables);
    return problems.map(({ place }) => place);
  } catch (error) {
    return [String(error)];
  } finally {
    await database.close();
  }
}
