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

const changes: readonly (readonly [name: string, script: string, place: string])[] = [
  ['an actor in an entry', replaceIn(20, '"tester"', '"mallet"'), 'node 4/1'],
  [
    'an actor in both entries of a call',
    `${replaceIn(21, '"tester"', '"mallet"')}; ${replaceIn(22, '"tester"', '"mallet"')}`,
    'node 4/1',
  ],
  ['a field that no row repeats', replaceIn(4, '"answer":"', '"answer":"0'), 'node 4/0'],
  ['a space in an entry', replaceIn(5, '":"', '": "'), 'entry 5'],
  ['an entry that is no JSON', replaceIn(5, '{', ''), 'entry 5'],
  ['an entry that is not an object', "UPDATE ledger_entries SET entry = '[]' WHERE idx = 83", 'entry 83'],
  ['an outcome in an entry at the end', replaceIn(80, '"ok"', '"OK"'), 'entry 80'],
  ['the kind of an entry', replaceIn(7, 'action.enter', 'genesis'), 'entry 7'],
  [
    'a salt beside an exit entry',
    "UPDATE ledger_entries SET salt = '00112233445566778899aabbccddeeff' WHERE idx = 8",
    'entry 8',
  ],
  ['content beside an exit entry', "UPDATE ledger_entries SET content = '{}' WHERE idx = 8", 'entry 8'],
  ['content beside the genesis', "UPDATE ledger_entries SET content = '{}' WHERE idx = 0", 'entry 0'],
  ['a deleted entry', 'DELETE FROM ledger_entries WHERE idx = 33', 'entry 33'],
  ['two swapped entries', swap(3, 5), 'node 4/0'],
  ['two swapped entries at the end', swap(80, 81), 'call 80'],
  ['a genesis that is something else', replaceIn(0, 'genesis', 'genesys'), 'entry 0'],
  ['a kind that there is not', replaceIn(80, 'action.exit', 'action.rest'), 'entry 80'],
  ['a second genesis', replaceIn(80, 'action.exit', 'genesis'), 'entry 80'],
  ['a second exit of one call', `${copyEntry(80)}; UPDATE ledger_head SET size = size + 1`, 'entry 84'],
  ['a second interruption', `${copyEntry(82)}; UPDATE ledger_head SET size = size + 1`, 'entry 84'],
  ['an entry behind the head', copyEntry(80), 'ledger_entries'],
  [
    'an entry before the first',
    'INSERT INTO ledger_entries SELECT -1, entry, salt, content FROM ledger_entries WHERE idx = 0',
    'ledger_entries',
  ],
  ['a head that is too small', 'UPDATE ledger_head SET size = size - 1', 'ledger_entries'],
  ['a head that is too large', 'UPDATE ledger_head SET size = size + 1', 'entry 84'],
  ['a changed node', "UPDATE ledger_nodes SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE idx = 3", 'node 4/3'],
  ['a deleted node', 'DELETE FROM ledger_nodes WHERE idx = 2', 'node 4/2'],
  ['a node too many', "INSERT INTO ledger_nodes VALUES (4, 5, 'ab')", 'ledger_nodes'],
  ['a node of a level that is not stored', "INSERT INTO ledger_nodes VALUES (3, 0, 'ab')", 'ledger_nodes'],
  ['a node moved elsewhere', 'UPDATE ledger_nodes SET level = 8 WHERE idx = 0', 'node 4/0'],
  ['a call without its exit', 'DELETE FROM call_exits WHERE sequence_no = 1', 'call 1'],
  ['a running call without a sign of life', `DELETE FROM presence WHERE sequence_no = ${RUNNING}`, `call ${RUNNING}`],
  ['a sign of life of another actor', listCall(1, 'someone'), 'call 1'],
  ['a sign of life at an exit entry', listCall(2), 'call 2'],
  ['a sign of life behind the head', listCall(SIZE), `call ${SIZE}`],
  ['a sign of life before the first entry', listCall(-5), 'call -5'],
  ['a last call of an actor without a sign of life', 'DELETE FROM presence', `call ${RUNNING}`],
  ['an exit of a call that no entry knows', copyExit(2), 'call 2'],
  ['an exit of a call behind the head', copyExit(SIZE), 'call_exits'],
  ['an exit of a call before the first entry', copyExit(-5), 'call_exits'],
  ['an exit of the running call', copyExit(RUNNING), `call ${RUNNING}`],
  ['other arguments', setCall(1, 'content', '{}'), 'call 1'],
  ['arguments that are gone', 'UPDATE ledger_entries SET content = NULL WHERE idx = 1', 'call 1'],
  ['a call without a salt', 'UPDATE ledger_entries SET salt = NULL WHERE idx = 1', 'call 1'],
  [
    'a call without salt and arguments',
    'UPDATE ledger_entries SET salt = NULL, content = NULL WHERE idx = 1',
    'call 1',
  ],
  [
    'arguments that hide others',
    'UPDATE ledger_entries SET content = content || char(30) || salt WHERE idx = 9',
    'call 9',
  ],
  [
    'another salt',
    'UPDATE ledger_entries SET salt = (SELECT salt FROM ledger_entries WHERE idx = 3) WHERE idx = 1',
    'call 1',
  ],
  ['a salt that is not a salt', setCall(1, 'salt', 'salt'), 'call 1'],
  ['a finished call made running', `DELETE FROM call_exits WHERE sequence_no = 1; ${listCall(1)}`, 'call 1'],
  [
    'an interrupted call made to look well',
    replaceIn(INTERRUPTED + 1, 'action.interrupted', 'action.exit'),
    `entry ${INTERRUPTED + 1}`,
  ],
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
    call_exits: [1, 5, INTERRUPTED],
    presence: [RUNNING],
  };

  promiseTest('ledger/tamper', 'every table of the log is looked at', async () => {
    const stored = await queryFile<{ name: string }>(
      await honestFile(),
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name LIKE 'ledger%' AND name <> 'ledger_keys' OR name LIKE '%call%' OR name = 'presence') ORDER BY name",
    );
    expect(stored.map(({ name }) => name)).toEqual(Object.keys(rows).sort());
  });

  for (const [table, rowids] of Object.entries(rows)) {
    promiseTest('ledger/tamper', `every column of ${table}`, async () => {
      const honest = await honestFile();
      // The time of a clock is not evidence.
      const columns = await queryFile<{ name: string }>(
        honest,
        `SELECT name FROM pragma_table_info('${table}') WHERE name <> 'clock_ms'`,
      );
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

function setCall(sequenceNo: number, column: string, value: string): string {
  return `UPDATE ledger_entries SET ${column} = '${value}' WHERE idx = ${sequenceNo}`;
}

function swap(one: number, two: number): string {
  const move = (from: number, to: number) => `UPDATE ledger_entries SET idx = ${to} WHERE idx = ${from}`;
  return [move(one, 1000), move(two, one), move(1000, two)].join('; ');
}

function copyEntry(index: number): string {
  return `INSERT INTO ledger_entries SELECT ${SIZE}, entry, salt, content FROM ledger_entries WHERE idx = ${index}`;
}

function listCall(sequenceNo: number, actor = 'tester'): string {
  return `INSERT INTO presence (sequence_no, actor) VALUES (${sequenceNo}, '${actor}')`;
}

function copyExit(sequenceNo: number): string {
  return `INSERT INTO call_exits SELECT ${sequenceNo}, exit_idx FROM call_exits WHERE sequence_no = 1`;
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
