import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { redactEntry } from '../../src/cli/redaction/redact-entry.ts';
import type { Database, Row, SqlValue, Transaction } from '../../src/db/database.ts';
import {
  canonicalize,
  type Entry,
  ERASED_SALT,
  encodeEntry,
  erasedContent,
  leafHash,
  parseEntry,
  redactionNote,
  saltedDigest,
} from '../../src/integrity/index.ts';
import { append } from '../../src/ledger/append.ts';
import { nextTail } from '../../src/ledger/tail.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { observe } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFinishedLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';

const DECISION = { reason: 'a password', actor: 'person:ada', at: '2026-04-08T22:00:00.000Z' };
const NOTE = redactionNote(DECISION);
const SALT = '00112233445566778899aabbccddeeff';

/** The content of each kind of entry: where it is stored, and by which column it is found. */
const STORED = {
  'action.enter': ['ledger_entries', 'idx', ['content', 'salt']],
  'task.created': ['task_versions', 'idx', ['content', 'salt']],
  'task.updated': ['tasks', 'event_idx', ['title', 'salt']],
  'session.started': ['sessions', 'start_idx', ['auditor_id', 'reason', 'salt']],
  thought: ['thoughts', 'idx', ['type', 'content', 'extras', 'salt']],
  observed: ['observations', 'idx', ['content', 'salt']],
  'observed.commit': ['observations', 'idx', ['content', 'salt']],
  'observed.coverage': ['observations', 'idx', ['content', 'salt']],
  redaction: ['redactions', 'idx', ['content', 'salt']],
} as const satisfies Partial<Record<Entry['kind'], readonly [string, string, readonly string[]]>>;
type Kind = keyof typeof STORED;
const KINDS = Object.keys(STORED) as Kind[];

interface Redacted {
  readonly index: number;
  readonly before: Row;
  readonly after: Row;
}

let folder: string;
let database: Database;
/** The same ledger with an entry of each kind redacted. */
const redacted = new Map<Kind, Redacted>();
/** Entries whose content is still there. */
const whole = new Map<Kind, number>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'colibri-redactions-'));
  const path = join(folder, 'colibri.db');
  await buildFinishedLedger(path);
  await observe(path);
  database = await openFile(path);
  for (const kind of KINDS) {
    const entries = await database.read((reader) => listEntries(reader, kind));
    const index = entries[0] ?? -1;
    const before = await database.read((reader) => readRow(reader, kind, index));
    await database.write({ durable: false }, (db) => redactEntry(db, index, DECISION));
    redacted.set(kind, { index, before, after: await database.read((reader) => readRow(reader, kind, index)) });
    if (entries[1] !== undefined) whole.set(kind, entries[1]);
  }
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

type Queries = Pick<Transaction, 'query'>;

/** Entries of a kind in the order of the log; of task events those that the table of the kind has. */
async function listEntries(db: Queries, kind: Kind): Promise<number[]> {
  const [table, column] = STORED[kind];
  const rows = await db.query<{ idx: number; entry: string }>(
    `SELECT ledger_entries.idx, ledger_entries.entry FROM ledger_entries
     JOIN ${table} AS stored ON stored.${column} = ledger_entries.idx ORDER BY ledger_entries.idx`,
  );
  return rows.filter(({ entry }) => parseEntry(entry)?.kind === kind).map(({ idx }) => idx);
}

async function readRow(db: Queries, kind: Kind, index: number): Promise<Row> {
  const [table, column, columns] = STORED[kind];
  const [row] = await db.query(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${column} = $1`, [index]);
  if (row === undefined) throw new Error(`no ${kind} with content`);
  return row;
}

async function write(db: Queries, kind: Kind, index: number, values: Row): Promise<void> {
  const [table, column] = STORED[kind];
  const names = Object.keys(values);
  const assignments = names.map((name, place) => `${name} = $${place + 2}`).join(', ');
  await db.query(`UPDATE ${table} SET ${assignments} WHERE ${column} = $1`, [index, ...Object.values(values)]);
}

const of = (kind: Kind): Redacted => {
  const found = redacted.get(kind);
  if (found === undefined) throw new Error(`no ${kind} was redacted`);
  return found;
};

/** What both paths report, without the schema, which has tests of its own. */
const placesAfter = async (work: (db: Transaction) => Promise<unknown>, alsoTrail = false) => {
  const tamper = async (db: Transaction) => void (await work(db));
  const problems = await afterTampering(database, tamper, { pastSchema: true, alsoTrail });
  return problems.map(({ place, problem }) => `${place} ${problem}`);
};

/** The places that reports about the content of an entry name. */
const placesOf = (kind: Kind, index: number): RegExp => {
  if (kind === 'action.enter') return new RegExp(`^call ${index} `);
  if (kind === 'task.updated') return /^T-/;
  if (kind === 'task.created') return new RegExp(`^task event ${index} `);
  if (kind === 'session.started') return /^A-/;
  return kind === 'thought' ? /^\u0398-/ : new RegExp(`^entry ${index} `);
};

describe('a ledger with redacted entries', () => {
  promiseTest('redact/verified', 'is whole, and the report names each of them', async () => {
    expect(await afterTampering(database, () => Promise.resolve())).toEqual([]);
    const report = await database.read((reader) => verifyEverything(reader));
    expect(report.redacted.map(({ entry }) => entry)).toEqual(KINDS.map((kind) => of(kind).index));
    expect(report.redacted[0]).toMatchObject({ by: 'person:ada', at: DECISION.at });
    expect(report.fast.entries).toBeGreaterThan(0);
  });

  for (const kind of KINDS)
    promiseTest('redact/verified', `says nothing of the redacted ${kind}, not even its salt`, () => {
      const { before, after } = of(kind);
      for (const [name, value] of Object.entries(before)) expect(after[name], name).not.toBe(value);
      expect(JSON.stringify(after)).toContain(NOTE);
    });

  promiseTest('redact/forged', 'content of any kind that came back', async () => {
    const found = await placesAfter(async (db) => {
      for (const kind of KINDS) await write(db, kind, of(kind).index, of(kind).before);
    }, true);
    for (const kind of KINDS) {
      const place = placesOf(kind, of(kind).index);
      const problems = found.filter((line) => place.test(line));
      expect(problems, kind).toContainEqual(expect.stringMatching(/redacted by entry \d+ and has|left of it/));
    }
  });

  for (const kind of ['thought', 'session.started', 'action.enter', 'task.updated'] as const)
    promiseTest('redact/forged', `one column of a ${kind} that came back`, async () => {
      const { index, before } = of(kind);
      for (const name of Object.keys(before)) {
        const found = await placesAfter((db) => write(db, kind, index, { [name]: before[name] ?? null }));
        expect(found, name).toContainEqual(expect.stringMatching(placesOf(kind, index)));
      }
    });

  promiseTest('redact/forged', 'content that is missing because its redaction is', async () => {
    const found = await placesAfter((db) => db.query('DELETE FROM redactions'), true);
    for (const kind of KINDS.filter((candidate) => candidate !== 'redaction'))
      expect(found, kind).toContainEqual(expect.stringMatching(placesOf(kind, of(kind).index)));
    expect(found.filter((line) => line.endsWith('no matching row in redactions'))).toHaveLength(KINDS.length);
  });

  for (const hasRow of [false, true])
    promiseTest('redact/forged', `no entry says so${hasRow ? ', but a row of the table does' : ''}`, async () => {
      const forged = [...whole].filter(([kind]) => kind !== 'redaction');
      expect(forged.length).toBeGreaterThan(5);
      const found = await placesAfter(async (db) => {
        const [last] = await db.query<{ idx: number }>('SELECT MAX(idx) AS idx FROM ledger_entries');
        for (const [place, [kind, index]] of forged.entries()) {
          await write(db, kind, index, of(kind).after);
          if (hasRow)
            await insertRow(db, [(last?.idx ?? 0) + 1 + place, index, SALT, canonicalize({ reason: 'none' })]);
        }
      }, true);
      for (const [kind, index] of forged) expect(found).toContainEqual(expect.stringMatching(placesOf(kind, index)));
    });
});

const insertRow = (db: Queries, values: readonly SqlValue[]) =>
  db.query('INSERT INTO redactions (idx, redacts, salt, content) VALUES ($1, $2, $3, $4)', values);

interface Forged {
  readonly actor?: string;
  readonly redacts: number;
  readonly remains?: string;
  readonly reason?: string;
}

/** Appends an entry with its row and its place in the tree, as a program with the rights of a server can. */
async function forge(db: Transaction, { actor = 'person:ada', reason = 'why', ...fields }: Forged): Promise<number> {
  const content = canonicalize({ reason });
  const digest = saltedDigest('redaction', SALT, content);
  const entry = { v: 1, kind: 'redaction', at: DECISION.at, actor, reason: digest, ...fields } as const;
  const [head] = await db.query<{ tail: string }>('SELECT tail FROM ledger_head');
  const index = await append(db, entry);
  // The head is written at the commit, which never comes.
  const tail = nextTail(head?.tail ?? '', leafHash(encodeEntry(entry)), index + 1);
  await db.query('UPDATE ledger_head SET size = $1, tail = $2', [index + 1, tail]);
  await insertRow(db, [index, fields.redacts, SALT, content]);
  return index;
}

const erase = (db: Transaction, kind: 'action.enter', index: number) =>
  write(db, kind, index, { content: erasedContent(kind, NOTE), salt: ERASED_SALT });

describe('a forged redaction', () => {
  const call = () => whole.get('action.enter') ?? -1;
  const version = () => whole.get('task.updated') ?? of('task.updated').index;

  promiseTest('redact/forged', 'is taken for a real one if nothing is wrong with it', async () => {
    const found = await placesAfter(async (db) => {
      await forge(db, { redacts: call() });
      await erase(db, 'action.enter', call());
    });
    expect(found).toEqual([]);
  });

  const FORGERIES: Readonly<Record<string, readonly [work: (db: Transaction) => Promise<unknown>, says: RegExp]>> = {
    'by an agent': [
      async (db) => {
        await forge(db, { redacts: call(), actor: 'claude-code' });
        await erase(db, 'action.enter', call());
      },
      /not the name of a person/,
    ],
    'without removing the content': [
      (db) => forge(db, { redacts: call() }),
      /was redacted by entry \d+ and has content/,
    ],
    'that leaves the salt': [
      async (db) => {
        await forge(db, { redacts: call() });
        await write(db, 'action.enter', call(), { content: erasedContent('action.enter', NOTE) });
      },
      /was redacted by entry \d+ and has a salt/,
    ],
    'that puts other arguments in their place': [
      async (db) => {
        await forge(db, { redacts: call() });
        await write(db, 'action.enter', call(), { content: '{}', salt: ERASED_SALT });
      },
      /was redacted by entry \d+ and has content/,
    ],
    'of the first entry': [(db) => forge(db, { redacts: 0 }), /breaks the grammar of redaction/],
    'of an exit': [
      async (db) => {
        const sql = 'SELECT exit_idx FROM call_exits WHERE sequence_no = $1';
        const [exit] = await db.query<{ exit_idx: number }>(sql, [call()]);
        await forge(db, { redacts: exit?.exit_idx ?? 0 });
      },
      /no content that can be redacted/,
    ],
    'of itself': [
      async (db) => {
        const [last] = await db.query<{ idx: number }>('SELECT MAX(idx) AS idx FROM ledger_entries');
        await forge(db, { redacts: (last?.idx ?? 0) + 1 });
      },
      /does not come before it/,
    ],
    'of an entry that does not exist': [(db) => forge(db, { redacts: 10_000 }), /does not come before it/],
    'of an entry that was redacted': [
      async (db) => {
        // The unique index holds one row for each entry.
        await db.query('DELETE FROM redactions WHERE redacts = $1', [of('action.enter').index]);
        await forge(db, { redacts: of('action.enter').index });
      },
      /was redacted before/,
    ],
    'of a call, with something that remains': [
      async (db) => {
        await forge(db, { redacts: call(), remains: '0'.repeat(64) });
        await erase(db, 'action.enter', call());
      },
      /with a digest of remains/,
    ],
    'of a task, without what remains of it': [(db) => forge(db, { redacts: version() }), /redact/],
  };
  for (const [name, [work, says]] of Object.entries(FORGERIES))
    promiseTest('redact/forged', name, async () => {
      expect(await placesAfter(work)).toContainEqual(expect.stringMatching(says));
    });

  promiseTest('redact/forged', 'of a task whose remains have text', async () => {
    const found = await placesAfter(async (db) => {
      const index = whole.get('task.created') ?? -1;
      const [row] = await db.query<{ content: string }>('SELECT content FROM task_versions WHERE idx = $1', [index]);
      const task = JSON.parse(row?.content ?? '') as Record<string, unknown>;
      const content = canonicalize({ ...task, title: 'another title' });
      await forge(db, { redacts: index, remains: saltedDigest('task', SALT, content) });
      await write(db, 'task.created', index, { content, salt: SALT });
    });
    expect(found).toContainEqual(expect.stringMatching(/was redacted by entry \d+ and has text/));
  });
});
