import { describe, expect } from 'vitest';
import type { Reader, Transaction } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { rotate, sizeOf } from '../support/properties.ts';
import { openTwoPages } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';

const database = await openTwoPages();

/** What a row can hold that its neighbors make up for, when all of it is read as one text. */
const ROW_FORGERIES: Readonly<Record<string, string>> = {
  'a call whose salt went into its arguments':
    "UPDATE ledger_entries SET content = salt || char(30) || content, salt = ''",
  'a thought whose columns moved by one':
    "UPDATE thoughts SET type = type || char(127) || content, content = recorded_at, recorded_at = ''",
  'a call whose arguments went into its salt':
    "UPDATE ledger_entries SET salt = salt || char(30) || content, content = ''",
  'a thought whose type went into its content': "UPDATE thoughts SET content = type || char(127) || content, type = ''",
  'arguments that reach into the next call': "UPDATE ledger_entries SET content = content || char(30) || '{}'",
  'arguments with a part of the salt':
    'UPDATE ledger_entries SET content = substr(salt, 32) || content, salt = substr(salt, 1, 31)',
  'a salt with a part of the extras':
    'UPDATE thoughts SET salt = salt || substr(extras, 1, 1), extras = substr(extras, 2)',
  'a salt in bytes': 'UPDATE thoughts SET salt = CAST(salt AS BLOB)',
  'a salt that is empty': "UPDATE ledger_entries SET salt = ''",
  'a salt that is missing': 'UPDATE ledger_entries SET salt = NULL',
  'arguments that are missing': 'UPDATE ledger_entries SET content = NULL',
  'a salt and arguments that are missing': 'UPDATE ledger_entries SET salt = NULL, content = NULL',
  'a salt of a call in bytes': 'UPDATE ledger_entries SET salt = CAST(salt AS BLOB)',
  'arguments in bytes': 'UPDATE ledger_entries SET content = CAST(content AS BLOB)',
  'a salt beside every entry': "UPDATE ledger_entries SET salt = COALESCE(salt || 'x', '')",
  'content beside every entry': "UPDATE ledger_entries SET content = COALESCE(content || 'x', '')",
  'extras in bytes': 'UPDATE thoughts SET extras = CAST(extras AS BLOB)',
  'an end of a call that is not a whole number': 'UPDATE call_exits SET exit_idx = exit_idx + 0.5',
  'a duration that is not a whole number': `UPDATE ledger_entries SET entry = replace(entry, '"duration_ms":', '"duration_ms":0.')`,
  'a duration that no number of JavaScript has': `UPDATE ledger_entries
     SET entry = replace(entry, '"duration_ms":', '"duration_ms":900719925474099')`,
  'a position that no number of JavaScript has': 'UPDATE thoughts SET chain_position = 9223372036854775807',
  'an end of a call that no number of JavaScript has': 'UPDATE call_exits SET exit_idx = 9223372036854775807',
  'an end of a call in bytes': 'UPDATE call_exits SET exit_idx = CAST(CAST(exit_idx AS TEXT) AS BLOB)',
  'a position in bytes': 'UPDATE thoughts SET chain_position = CAST(CAST(chain_position AS TEXT) AS BLOB)',
  'an attempt in bytes': 'UPDATE thoughts SET attempt = CAST(CAST(attempt AS TEXT) AS BLOB)',
  'a first hash that is an empty text': "UPDATE thoughts SET previous_hash = COALESCE(previous_hash, '')",
  'a hash before the first': "UPDATE thoughts SET previous_hash = COALESCE(previous_hash, 'x')",
  'a link to nothing': 'UPDATE thoughts SET previous_hash = NULL',
  'a call that ends before it begins': 'UPDATE call_exits SET exit_idx = sequence_no - 1',
  'a call that ends where it begins': 'UPDATE call_exits SET exit_idx = sequence_no',
  'a call that ends in the next page': 'UPDATE call_exits SET exit_idx = exit_idx + 600',
  'a call that ends with another': 'UPDATE call_exits SET exit_idx = exit_idx + 3',
  'arguments with a zero byte': "UPDATE ledger_entries SET content = content || char(0) || 'x'",
  'content with a zero byte': "UPDATE thoughts SET content = content || char(0) || 'x'",
  'content that is not UTF-8': "UPDATE thoughts SET content = CAST(content || x'e298' AS TEXT)",
  'an entry with a zero byte': "UPDATE ledger_entries SET entry = entry || char(0) || 'x'",
  'an entry that is not UTF-8': "UPDATE ledger_entries SET entry = CAST(entry || x'e298' AS TEXT)",
  'arguments that are no UTF-8': "UPDATE ledger_entries SET content = CAST(x'7bff7d' AS TEXT)",
  'extras that are no UTF-8': "UPDATE thoughts SET extras = CAST(x'7bff7d' AS TEXT)",
  'an entry in bytes': 'UPDATE ledger_entries SET entry = CAST(entry AS BLOB)',
  'an entry with the separator': 'UPDATE ledger_entries SET entry = entry || char(127)',
  'a place of another entry': 'UPDATE session_events SET idx = idx + 1',
  'a place that a thought has': 'UPDATE session_events SET session_seq = session_seq - 1',
  'a place that no record has': 'UPDATE session_events SET session_seq = session_seq + 1000',
  'a thought that has no place': 'UPDATE thoughts SET session_seq = session_seq + 1000',
  'a place in bytes': 'UPDATE session_events SET idx = CAST(CAST(idx AS TEXT) AS BLOB)',
};

const MAX_ROWS = sizeOf({ test: 1, torture: Number.POSITIVE_INFINITY });

describe('a forged row that is read as part of one value', () => {
  const keys: Readonly<Record<string, string>> = {
    call_exits: 'sequence_no',
    thoughts: 'thought_no',
    ledger_entries: 'idx',
    session_events: 'session_seq',
  };

  for (const [turn, [name, update]] of Object.entries(ROW_FORGERIES).entries()) {
    promiseTest('verify/tampering', `reports the same as the reference for ${name}`, async () => {
      const table = /UPDATE (\w+)/.exec(update)?.[1] ?? '';
      const key = keys[table] ?? '';
      let applied = 0;
      for (const row of rotate(await sampleRows(table, key), turn)) {
        if (applied === MAX_ROWS) break;
        let isChanged = false;
        const tamper = async (transaction: Transaction) => {
          // Otherwise only one row of a chain may lack a hash before it.
          await transaction.run('DROP INDEX thoughts_first');
          const before = await quoteRow(transaction, table, row);
          await transaction.query(`${update} WHERE rowid = $1`, [row]);
          isChanged = before !== (await quoteRow(transaction, table, row));
        };
        const problems = await afterTampering(database, tamper, { pastSchema: true });
        if (!isChanged) continue;
        applied += 1;
        expect(problems, `row ${row}`).not.toEqual([]);
      }
      expect(applied).toBeGreaterThan(0);
    });
  }
});

describe('arguments beside an entry that is not their call', () => {
  promiseTest('verify/tampering', 'reports arguments that moved to the next entry, in the same order', async () => {
    const calls = await database.read((reader) =>
      reader.query<{ idx: number }>(
        `SELECT calls.idx FROM ledger_entries AS calls
         JOIN ledger_entries AS next ON next.idx = calls.idx + 1 AND next.salt IS NULL
         WHERE calls.salt IS NOT NULL ORDER BY calls.idx`,
      ),
    );
    for (const { idx } of [calls[0], calls[Math.floor(calls.length / 2)], calls.at(-1)].flatMap((call) => call ?? [])) {
      const problems = await afterTampering(database, async (transaction) => {
        const move = `UPDATE ledger_entries SET (salt, content) =
          (SELECT salt, content FROM ledger_entries WHERE idx = $1) WHERE idx = $2`;
        await transaction.query(move, [idx, idx + 1]);
        await transaction.query('UPDATE ledger_entries SET salt = NULL, content = NULL WHERE idx = $1', [idx]);
      });
      expect(problems.map(({ place }) => place)).toEqual([`call ${idx}`, `entry ${idx + 1}`]);
    }
  });
});

/** Both ends of the table and of a page, as far as there are such rows. */
async function sampleRows(table: string, key: string): Promise<number[]> {
  const rows = await database.read((reader) =>
    reader.query<{ row: number }>(
      `SELECT rowid AS "row" FROM ${table} WHERE ${key} IN (1, 2, 85, 86, 170, 171, 255, 256, 511, 512)
         OR ${key} = (SELECT MIN(${key}) FROM ${table}) OR ${key} = (SELECT MAX(${key}) FROM ${table})`,
    ),
  );
  return rows.map(({ row }) => row);
}

/** All columns of a row with their types, as SQL literals. */
async function quoteRow(reader: Reader, table: string, row: number): Promise<string> {
  const columns = await reader.query<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`);
  const literals = columns.map(({ name }) => `quote(${name}) || ' ' || hex(${name})`).join(" || ',' || ");
  const [quoted] = await reader.query<{ text: string }>(`SELECT ${literals} AS text FROM ${table} WHERE rowid = $1`, [
    row,
  ]);
  return quoted?.text ?? '';
}
