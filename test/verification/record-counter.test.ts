import { describe, expect } from 'vitest';
import type { Reader, Row, SqlValue } from '../../src/db/database.ts';
import { formatSessionId, formatTaskId } from '../../src/ids.ts';
import { RecordCounter } from '../../src/verification/fast/record-counter.ts';
import { countLogged } from '../../src/verification/logged-records.ts';
import { strictReader } from '../../src/verification/strict-reader.ts';
import { verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

/** Two tasks with a sealed and a live session, whose records are mixed. */
async function fill(server: TestServer): Promise<void> {
  await server.createTask({ title: 'parent' });
  await server.createTask({ title: 'child', parent_id: 'T-0001' });
  await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
  await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'one' });
  await server.recordThought({ task_id: 'T-0002', session_id: 'A-0001', type: 'risk', content: 'two' });
  await server.updateTask({ task_id: 'T-0002', status: 'todo' });
  await server.finalize({ session_id: 'A-0001' });
  await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
  await server.recordThought({ task_id: 'T-0002', type: 'decision', content: 'three' });
}

const NUMBERS = [1, 2, 3];

async function countByReference(db: Reader) {
  const all = (field: 'task_id' | 'session_id', format: (number: number) => string) =>
    Promise.all(NUMBERS.map((number) => countLogged(db, field, format(number))));
  return [await all('task_id', formatTaskId), await all('session_id', formatSessionId)];
}

async function countByCounter(db: Reader, recordCounter: RecordCounter) {
  const log = await recordCounter.read(db);
  return log && [NUMBERS.map((number) => log.thoughtsOf(number)), NUMBERS.map((number) => log.recordsOf(number))];
}

/** Entries that the log never has; each replaces the genesis entry. */
const FORGED: Readonly<Record<string, string>> = {
  'a second thought': '{"kind":"thought","session_id":"A-0001","task_id":"T-0001"}',
  'an entry of two tasks': '{"kind":"thought","task_id":"T-0001","task_id":"T-0002","task_id":"T-0001"}',
  'a kind after the id': '{"task_id":"T-0001","kind":"thought"}',
  'a task event of three sessions':
    '{"kind":"task.updated","sessions":[{"session_id":"A-0001"},{"session_id":"A-0002"},{"session_id":"A-0003"}]}',
  'another kind of task event': '{"kind":"task.removed","session_id":"A-0001"}',
  'a number with a zero before it': '{"kind":"thought","session_id":"A-00001","task_id":"T-00001"}',
  'capital letters': '{"KIND":"THOUGHT","SESSION_ID":"A-0001","TASK_ID":"T-0001"}',
  'no JSON at all': '"kind":"thought" and later "task_id":"T-0003" and more',
  'a line break between': '"kind":"thought"\n"session_id":"A-0002"\n"task-id":"T-0002"',
  nothing: '',
};

describe('what the log says about a task or a session', () => {
  promiseTest('trail/cost', 'is what the reference counts, also in an entry that was forged', () =>
    withServer(async (server) => {
      await fill(server);
      const [{ entry: genesis } = { entry: '' }] = await server.query<{ entry: string }>(
        'SELECT entry FROM ledger_entries WHERE idx = 0',
      );
      const setGenesis = (entry: string) => server.query('UPDATE ledger_entries SET entry = $1 WHERE idx = 0', [entry]);
      for (const [name, entry] of Object.entries({ honest: genesis, ...FORGED })) {
        await setGenesis(entry);
        await server.database.read(async (reader) => {
          const db = strictReader(reader);
          expect(await countByCounter(db, new RecordCounter()), name).toEqual(await countByReference(db));
        });
      }
      await setGenesis(genesis);
    }),
  );

  promiseTest('trail/cost', 'is read from the entries since the last verification, and from no others', () =>
    withServer(async (server) => {
      await fill(server);
      const recordCounter = new RecordCounter();
      const verify = () =>
        server.database.read(async (reader) => {
          const entries: Row[] = [];
          const options = { withTrace: false, progress: () => undefined, recordCounter };
          const report = await verifyTaskChain(watching(reader, entries), 2, options);
          expect(report).toMatchObject({ total: 2, brokenTotal: 0 });
          return entries.length;
        });
      expect(await verify()).toBeGreaterThan(0);
      expect(await verify()).toBe(0);
      await server.createTask({ title: 'one more' });
      await server.call('task_list', {});
      expect(await verify()).toBe(1);
    }),
  );

  promiseTest('trail/cost', 'counts again after another ledger replaced the first', async () => {
    const recordCounter = new RecordCounter();
    for (const thoughts of [3, 2, 5])
      await withServer(async (server) => {
        await fill(server);
        for (let number = 1; number < thoughts; number += 1)
          await server.recordThought({ task_id: 'T-0002', type: 'decision', content: `more ${number}` });
        await server.database.read(async (reader) => {
          const db = strictReader(reader);
          expect(await countByCounter(db, recordCounter)).toEqual(await countByReference(db));
        });
      });
  });

  promiseTest('trail/cost', 'is not known if a forger left entries that cannot be counted', () =>
    withServer(async (server) => {
      await fill(server);
      const [{ entry } = { entry: '' }] = await server.query<{ entry: string }>(
        'SELECT entry FROM ledger_entries WHERE idx = 0',
      );
      const recordCounter = new RecordCounter();
      const read = () => server.database.read((reader) => countByCounter(strictReader(reader), recordCounter));
      const honest = await read();
      const insert = 'INSERT INTO ledger_entries (idx, entry) VALUES ($1, $2)';
      for (const index of [-1, 1_000_000]) {
        await server.query(insert, [index, '{"kind":"thought","task_id":"T-0001"}']);
        expect(await read()).toBeUndefined();
        await server.query('DELETE FROM ledger_entries WHERE idx = $1', [index]);
        expect(await read()).toEqual(honest);
      }
      const hostile = [
        '{"kind":"thought","task_id":"T-900719925474099"}',
        ...(server.database.engine === 'sqlite' ? ['{"kind":"thought"}\u0000'] : []),
      ];
      for (const text of hostile) {
        await server.query('UPDATE ledger_entries SET entry = $1 WHERE idx = 0', [text]);
        const counted = await server.database.read((reader) =>
          countByCounter(strictReader(reader), new RecordCounter()),
        );
        expect(counted, text).toBeUndefined();
      }
      await server.query('UPDATE ledger_entries SET entry = $1 WHERE idx = 0', [entry]);
    }),
  );
});

/** Collects the records that a page of the log had. Nothing may read all of the log. */
function watching(reader: Reader, records: Row[]): Reader {
  const queryStored = async <Shape = Row>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> => {
    if (sql.includes('LIKE')) expect(sql).toContain('idx >= $1 AND idx < $2');
    const rows = await reader.queryStored<Shape>(sql, parameters);
    if (sql.includes('LIKE')) records.push(...(rows as Row[]));
    return rows;
  };
  return { engine: reader.engine, query: queryStored, queryStored };
}
