import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { beforeEachStatement } from '../../src/db/before-each-statement.ts';
import type { Database, Reader } from '../../src/db/database.ts';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { verifySession, verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { verifyTables } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOf, sizeOf } from '../support/properties.ts';
import { buildFullLedger, openFile, TWO_LEVELS } from '../support/sample-ledgers.ts';
import { openWithoutTypes } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';
import { type Cell, edit, editsOf, listCells } from './forge/single-edits.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-edits-'));
/** Only the inner nodes need a ledger that takes long to verify. */
const ledgers = [
  await openLedger('short.db', ({ table }) => table !== 'ledger_nodes'),
  await openLedger('long.db', ({ table }) => table === 'ledger_nodes', TWO_LEVELS),
];

async function openLedger(name: string, isTested: (cell: Cell) => boolean, size?: typeof TWO_LEVELS) {
  const path = join(folder, name);
  await buildFullLedger(path, size);
  const file = await openWithoutTypes(path);
  return { file, database: await openFile(path), cells: listCells(file).filter(isTested) };
}

afterAll(async () => {
  for (const { file, database } of ledgers) {
    await assertWhole(database);
    await database.close();
    file.close();
  }
  rmSync(folder, { recursive: true });
});

describe('one edit of one value', () => {
  for (const { file, database, cells } of ledgers)
    for (const [turn, name] of [...new Set(cells.map(nameOf))].entries())
      promiseTest('verify/edits', `in ${name}`, async () => {
        const missed: string[] = [];
        let made = 0;
        const column = cells.filter((candidate) => nameOf(candidate) === name);
        const makeEdits = async (cell: Cell, changes: Iterable<string>) => {
          for (const change of changes) {
            const undo = isHarmless(cell, change) ? undefined : edit(file, cell, change);
            if (undo === undefined) continue;
            made += 1;
            const outcome = await findEdit(database, cell.table).catch((error: unknown) => `threw ${String(error)}`);
            if (outcome !== 'found') missed.push(`${outcome}: ${describeEdit(cell, change)}`);
            undo();
          }
        };
        for (const cell of column) await makeEdits(cell, changesOf(cell, column, turn));
        // The schema may forbid every edit of a sample, in a key above all.
        if (made === 0) for (const cell of column) await makeEdits(cell, editsOf(cell));
        expect(missed).toEqual([]);
        expect(made).toBeGreaterThan(0);
      });
});

/**
 * Every kind of edit in the first row or in the last; on other versions of Node half of the kinds, which alternate with
 * the columns. `npm run torture` makes every edit in both rows.
 */
function changesOf(cell: Cell, column: readonly Cell[], turn: number): ReadonlySet<string> {
  const ends = column.filter(({ type }) => type === cell.type);
  const places = ends.length === 1 ? [0, 1] : [ends.indexOf(cell)];
  return new Set(places.flatMap((place) => partOf(editsOf(cell), 2 * turn + place, PARTS)));
}

const PARTS = sizeOf({ test: 4, drivers: 6, torture: 1 });

/**
 * What FTS5 keeps for itself and no answer of this program depends on, as docs/trust.md says: averages for ranking, a
 * byte behind the end of a block, and how to find the page of a word in a segment of one page. Nor is the time of a
 * sign of life evidence. Other types are found, except where SQLite makes no difference: it reads a whole number in a
 * REAL column as REAL, however it is stored.
 */
function isHarmless({ table, column, where }: Cell, change: string): boolean {
  const isOtherTime =
    column === 'clock_ms' ? /^-?~ [+-] 1$/.test(change) : column === 'clock_id' && change.startsWith("'0'");
  const isAverages = table === 'task_search_data' && where.includes("'31'");
  const isLonger = column === 'block' && change.includes("x'00'");
  const isSameReal = table === 'tasks' && column === 'progress' && change === 'CAST(~ AS REAL)';
  return (
    isOtherTime ||
    isSameReal ||
    isAverages ||
    isLonger ||
    (table === 'task_search_idx' && /^~ [+-] 1|^-~|^9|x'00'/.test(change))
  );
}

const MAX_STEPS = 3000;

/** The tables that the fast path reads, and those that a chain or a session is checked by. */
const IN_FAST_PATH = new Set(['ledger_entries', 'call_exits', 'presence', 'thoughts']);
const IN_CHAINS = new Set([
  'ledger_entries',
  'ledger_nodes',
  'thoughts',
  'sessions',
  'session_events',
  'task_versions',
  'tasks',
]);

/** Each way of verifying has to end within a bounded number of statements. */
function findEdit(database: Database, table: string): Promise<'found' | 'missed' | 'differs'> {
  return database.read(async (reader) => {
    // Without the schema, which has tests of its own and which an edit of a value does not change.
    const { problems } = await verifyTables(withMaxSteps(reader));
    if (IN_FAST_PATH.has(table)) {
      const reference = await verifyTables(withMaxSteps(reader), undefined, { useFastPath: false });
      if (JSON.stringify(problems) !== JSON.stringify(reference.problems)) return 'differs';
    }
    if (IN_CHAINS.has(table)) await verifyChains(withMaxSteps(reader));
    return problems.length > 0 ? 'found' : 'missed';
  });
}

/** What `audit_verify_chain` does. */
async function verifyChains(reader: Reader): Promise<void> {
  const options = { withTrace: false, progress: () => undefined };
  await verifyTaskChain(reader, 1, options);
  const session = await findSession(reader, 'A-0001');
  if (session !== undefined) await verifySession(reader, session, options);
}

function withMaxSteps(reader: Reader): Reader {
  let steps = 0;
  return beforeEachStatement(reader, (sql) => {
    steps += 1;
    if (steps > MAX_STEPS) throw new Error(`more than ${MAX_STEPS} statements, the last: ${sql}`);
  });
}

function nameOf({ table, column }: Cell): string {
  return `${table}.${column}`;
}

function describeEdit({ where, literal }: Cell, change: string): string {
  return `(${literal.slice(0, 40)}) := ${change} where ${where}`;
}
