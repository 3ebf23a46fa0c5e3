import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { verifyEverything } from '../../src/verify.ts';
import { keeps } from '../support/keeps.ts';
import { countRowQueries } from '../support/row-by-row.ts';
import { openDesk } from '../support/trail-desk.ts';
import { openFile } from '../support/trail-scenery.ts';
import { afterTampering } from '../support/trail-tamper.ts';

/** Enough for two pages, with calls that end in another page than they began in, and texts that JSON has to escape. */
const folder = mkdtempSync(join(tmpdir(), 'colibri-foresight-'));
const path = join(folder, 'colibri.db');
const desk = await openDesk(path, 'tester "quoted" \u5b57');
await desk.createTask({ title: 'Strict parser', status: 'todo' });
await desk.start({ task_id: 'T-0001', auditor_id: 'auditor' });
for (let number = 1; number <= 180; number += 1) {
  const content = number % 3 === 0 ? `line ${number}\n"quoted" \\ \u5b57 \u{1f426}` : `thought ${number}`;
  await desk.record({ task_id: 'T-0001', type: 'decision', content });
}
await desk.finalize({ session_id: 'A-0001' });
await desk.close();
const database = await openFile(path);

afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

/** The first and the last of each kind, and those on both sides of a page's end. */
const SAMPLES = await database.read(async (reader) => {
  const ends = await reader.query<{ first: number; last: number }>(
    `SELECT MIN(idx) AS first, MAX(idx) AS last FROM ledger_entries
     WHERE kind IN ('action.enter', 'action.exit', 'thought', 'session.started', 'task.created') GROUP BY kind`,
  );
  return [...new Set([...ends.flatMap(({ first, last }) => [first, last]), 509, 510, 511, 512, 513, 514])];
});

/** Texts that say the same, or nearly the same, in another way. */
const OTHER_TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'a number with a fraction': (text) => text.replace('"v":1', '"v":1.0'),
  'a number with an exponent': (text) => text.replace('"v":1', '"v":1e0'),
  'a number with a zero before it': (text) => text.replace(/":(\d)/, '":0$1'),
  'a number below zero': (text) => text.replace(/":(\d)/, '":-$1'),
  'a number as a string': (text) => text.replace(/":(\d+)/, '":"$1"'),
  'another number': (text) => text.replace(/":(\d+),/, '":$19,'),
  'a member more at the end': (text) => text.replace(/\}$/, ',"w":1}'),
  'a member more at the beginning': (text) => text.replace(/^\{/, '{"aaa":1,'),
  'a member twice': (text) => text.replace(/\}$/, ',"v":1}'),
  'a member less': (text) => text.replace(/"at":"[^"]*",/, ''),
  'two members exchanged': (text) => text.replace(/("actor":"(?:[^"\\]|\\.)*"),(.*),("v":1)/, '$3,$2,$1'),
  'a space': (text) => text.replace('":', '": '),
  'a space at the end': (text) => `${text} `,
  'a line feed at the beginning': (text) => `\n${text}`,
  'an escape that is not needed': (text) => text.replace('tester', 't\\u0065ster'),
  'an escape in a digest': (text) => text.replace(/"([0-9a-f])([0-9a-f]{63})"/, '"\\u003$1$2"'),
  'capitals in a digest': (text) => text.replace(/[0-9a-f]{64}/, (digest) => digest.toUpperCase()),
  'a longer digest': (text) => text.replace(/([0-9a-f]{64})/, '$10'),
  'another digest': (text) => text.replace(/[0-9a-f]{64}/, (digest) => digest.slice(32) + digest.slice(0, 32)),
  'another kind': (text) => text.replace(/"kind":"[^"]*"/, '"kind":"action.pause"'),
  'a kind of the same table': (text) =>
    text.replace(/"kind":"action\.(enter|exit)"/, (_, kind) => `"kind":"action.${kind === 'exit' ? 'enter' : 'exit'}"`),
  'an interruption': (text) => text.replace('action.exit', 'action.interrupted'),
  nothing: () => '',
  'an array': (text) => `[${text}]`,
  'the separator': (text) => text.replace('tester', 'tes\u007fter'),
  'the separator at the end': (text) => `${text}\u007f`,
};

describe('reading many rows at once', () => {
  it('is what an honest ledger is verified by', async () => {
    const { report, counted } = await database.read(async (reader) => {
      const counting = countRowQueries(reader);
      return { report: await verifyEverything(counting), counted: counting.counted() };
    });
    expect(report.problems).toEqual([]);
    expect(report.size).toBeGreaterThan(512);
    expect(counted).toBe(0);
  });

  for (const [name, forge] of Object.entries(OTHER_TEXTS)) {
    keeps('verify/tampering', `as reading one by one does, ${name} in an entry`, async () => {
      let tried = 0;
      for (const index of SAMPLES) {
        const problems = await afterTampering(database, async (transaction) => {
          const [row] = await transaction.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [
            index,
          ]);
          const forged = forge(row?.entry ?? '');
          if (forged !== row?.entry) tried += 1;
          await transaction.query('UPDATE ledger_entries SET entry = $1 WHERE idx = $2', [forged, index]);
          if (forged === row?.entry) await transaction.query('DELETE FROM ledger_head');
        });
        expect(problems).not.toEqual([]);
      }
      expect(tried).toBeGreaterThan(0);
    });
  }
});

describe('an entry in the place of another', () => {
  for (const from of SAMPLES)
    keeps('verify/tampering', `as reading one by one does, a copy of entry ${from}`, async () => {
      for (const to of SAMPLES.filter((index) => index !== from)) {
        const problems = await afterTampering(database, async (transaction) => {
          await transaction.query(
            `UPDATE ledger_entries SET kind = (SELECT kind FROM ledger_entries WHERE idx = $1),
                                       entry = (SELECT entry FROM ledger_entries WHERE idx = $1) WHERE idx = $2`,
            [from, to],
          );
        });
        expect(problems).not.toEqual([]);
      }
    });
});

/** What a row can hold that its neighbours make up for, when all of it is read as one text. */
const ROW_FORGERIES: Readonly<Record<string, string>> = {
  'a call whose columns moved by one': `UPDATE calls SET tool = tool || char(127) || actor, actor = process_id,
     process_id = entered_at, entered_at = exited_at, exited_at = outcome, outcome = salt, salt = ''`,
  'a thought whose columns moved by one':
    "UPDATE thoughts SET type = type || char(127) || content, content = recorded_at, recorded_at = ''",
  'arguments that reach into the next call': "UPDATE calls SET arguments = arguments || char(127) || '{}'",
  'an end of a call that is no whole number': 'UPDATE calls SET exit_idx = exit_idx + 0.5',
  'a duration that is no whole number': 'UPDATE calls SET duration_ms = duration_ms + 0.5',
  'a duration in bytes': 'UPDATE calls SET duration_ms = CAST(CAST(duration_ms AS TEXT) AS BLOB)',
  'a position in bytes': 'UPDATE thoughts SET chain_position = CAST(CAST(chain_position AS TEXT) AS BLOB)',
  'an attempt in bytes': 'UPDATE thoughts SET attempt = CAST(CAST(attempt AS TEXT) AS BLOB)',
  'a first hash that is an empty text': "UPDATE thoughts SET previous_hash = COALESCE(previous_hash, '')",
  'a hash before the first': "UPDATE thoughts SET previous_hash = COALESCE(previous_hash, 'x')",
  'a link to nothing': 'UPDATE thoughts SET previous_hash = NULL',
  'a call that ends before it begins': 'UPDATE calls SET exit_idx = sequence_no - 1',
  'a call that ends where it begins': 'UPDATE calls SET exit_idx = sequence_no',
  'a call that ends in the next page': 'UPDATE calls SET exit_idx = exit_idx + 600',
  'a call made running': 'UPDATE calls SET exit_idx = NULL, exited_at = NULL, outcome = NULL, duration_ms = NULL',
  'a tool with a zero byte': "UPDATE calls SET tool = tool || char(0) || 'x'",
  'arguments with a zero byte': "UPDATE calls SET arguments = arguments || char(0) || 'x'",
  'content with a zero byte': "UPDATE thoughts SET content = content || char(0) || 'x'",
  'content that is not UTF-8': "UPDATE thoughts SET content = CAST(content || x'e298' AS TEXT)",
  'an entry with a zero byte': "UPDATE ledger_entries SET entry = entry || char(0) || 'x'",
  'an entry that is not UTF-8': "UPDATE ledger_entries SET entry = CAST(entry || x'e298' AS TEXT)",
  'a kind in bytes': 'UPDATE ledger_entries SET kind = CAST(kind AS BLOB)',
  'an entry in bytes': 'UPDATE ledger_entries SET entry = CAST(entry AS BLOB)',
  'a kind with the separator': 'UPDATE ledger_entries SET kind = kind || char(127)',
  'a place of another entry': 'UPDATE session_records SET idx = idx + 1',
  'a place in bytes': 'UPDATE session_records SET idx = CAST(CAST(idx AS TEXT) AS BLOB)',
};

describe('a row that is not as it looks', () => {
  const keys: Readonly<Record<string, string>> = {
    calls: 'sequence_no',
    thoughts: 'thought_no',
    ledger_entries: 'idx',
    session_records: 'session_seq',
  };

  for (const [name, update] of Object.entries(ROW_FORGERIES)) {
    keeps('verify/tampering', `as reading one by one does, ${name}`, async () => {
      const table = /UPDATE (\w+)/.exec(update)?.[1] ?? '';
      const rows = await database.read((reader) =>
        reader.query<{ first: number; last: number }>(
          `SELECT MIN(${keys[table]}) AS first, MAX(${keys[table]}) AS last FROM ${table}`,
        ),
      );
      let found = 0;
      for (const key of [rows[0]?.first, rows[0]?.last, 1, 2, 170, 171, 511, 512]) {
        const problems = await afterTampering(database, async (transaction) => {
          // Otherwise only one row of a chain may lack a hash before it.
          await transaction.run('DROP INDEX thoughts_first');
          await transaction.query(`${update} WHERE ${keys[table]} = $1`, [key ?? null]);
        });
        if (problems.some(({ place }) => place !== 'thoughts_first')) found += 1;
      }
      expect(found).toBeGreaterThan(0);
    });
  }
});
