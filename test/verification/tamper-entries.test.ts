import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { canonicalize, parseEntry } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOnPostgres } from '../support/properties.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-tamper-entries-'));
const path = join(folder, 'colibri.db');
await buildFullLedger(path);
const database = await openFile(path);
const rows = await database.read((reader) =>
  reader.query<{ idx: number; entry: string }>('SELECT idx, entry FROM ledger_entries ORDER BY idx'),
);
const entries = rows.map(({ idx, entry }) => ({ idx, entry, kind: parseEntry(entry)?.kind }));

afterAll(async () => {
  await assertWhole(database);
  await database.close();
  rmSync(folder, { recursive: true });
});

/** The first and the last entry of each kind: deep in the tree, and among the newest, which no stored node covers. */
const samples = [...new Set(entries.map(({ kind }) => kind))].flatMap((kind) => {
  const ofKind = entries.filter((entry) => entry.kind === kind);
  return [...new Set([ofKind[0], ofKind.at(-1)])].filter((entry) => entry !== undefined);
});
const newest = entries.slice(-(entries.length % 16));

describe('one field inside an entry, written canonically again', () => {
  for (const { idx, kind, entry } of [...samples, ...newest]) {
    promiseTest('verify/tampering', `in entry ${idx}, ${kind}`, async () => {
      const fields = JSON.parse(entry) as Record<string, unknown>;
      const edits = [...Object.keys(fields), 'added'].map((field) => ({ ...fields, [field]: another(fields[field]) }));
      for (const edit of partOnPostgres(edits, idx)) {
        const text = canonicalize(edit).replaceAll("'", "''");
        const problems = await afterTampering(database, (transaction) =>
          transaction.run(`UPDATE ledger_entries SET entry = '${text}' WHERE idx = ${idx}`),
        );
        expect([text, problems.length > 0]).toEqual([text, true]);
      }
    });
  }
});

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  return Array.isArray(value) ? [...value, 'x'] : 'x';
}
