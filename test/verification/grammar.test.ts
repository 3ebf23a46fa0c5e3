import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { Database, Reader } from '../../src/db/database.ts';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { verifySession } from '../../src/verification/verify-chain.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { readEvents, writeLedger } from '../support/forge/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOnPostgres } from '../support/properties.ts';
import { buildFinishedLedger, buildRuleLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';
import { CLAIM_BREAKERS } from './forge/break-claims.ts';
import { CONTENT_BREAKERS } from './forge/break-contents.ts';
import { ENTRY_BREAKERS } from './forge/break-entries.ts';
import { HISTORY_BREAKERS } from './forge/break-history.ts';
import { buildReviewedLedger, REVIEW_BREAKERS } from './forge/break-reviews.ts';
import { Forging, type RuleBreaker } from './forge/forging.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-grammar-'));
const database = await open('colibri.db', buildRuleLedger);
const finished = await open('finished.db', buildFinishedLedger);
const reviewed = await open('reviewed.db', buildReviewedLedger);

async function open(name: string, build: (path: string) => Promise<void>): Promise<Database> {
  const path = join(folder, name);
  await build(path);
  return openFile(path);
}

afterAll(async () => {
  for (const ledger of [database, finished, reviewed]) {
    await assertWhole(ledger);
    await ledger.close();
  }
  rmSync(folder, { recursive: true });
});

describe('a ledger whose hashes a forger recomputed', () => {
  promiseTest('verify/grammar', 'verifies if the forger changed nothing', async () => {
    const problems = await afterTampering(database, async (db) => {
      const before = await db.query('SELECT idx, entry FROM ledger_entries ORDER BY idx');
      const nodes = await db.query('SELECT level, idx, hash FROM ledger_nodes ORDER BY level, idx');
      await writeLedger(db, await readEvents(db));
      expect(await countDefects(db)).toBe(0);
      expect(await db.query('SELECT idx, entry FROM ledger_entries ORDER BY idx')).toEqual(before);
      expect(await db.query('SELECT level, idx, hash FROM ledger_nodes ORDER BY level, idx')).toEqual(nodes);
    });
    expect(problems).toEqual([]);
  });

  promiseTest('verify/grammar', 'is proven by the fast path if every call has ended', async () => {
    const problems = await afterTampering(finished, async (db) => {
      await writeLedger(db, await readEvents(db));
      const { size, problems: found, fast } = await verifyEverything(db);
      const [rest] = await db.query<{ entries: number }>(
        `SELECT COUNT(*) AS entries FROM ledger_entries
         WHERE entry NOT LIKE '%"kind":"action.e%' AND entry NOT LIKE '%"kind":"thought"%'`,
      );
      expect(found).toEqual([]);
      expect(fast).toEqual({ pages: Math.ceil(size / 256), entries: size - (rest?.entries ?? 0) });
    });
    expect(problems).toEqual([]);
  });

  const breakers = [...ENTRY_BREAKERS, ...CONTENT_BREAKERS, ...HISTORY_BREAKERS, ...CLAIM_BREAKERS];
  for (const breaker of partOnPostgres(breakers, 0)) refused(database, breaker);
  for (const breaker of REVIEW_BREAKERS) refused(reviewed, breaker);
});

describe('an approval that cannot be read', () => {
  for (const extras of ['{', '[]', 'null', '{"metadata":null}', '{"metadata":{"approval":7}}'])
    promiseTest('verify/grammar', `counts for nothing: ${extras}`, async () => {
      const sql = "UPDATE thoughts SET extras = $1 WHERE recorded_by = 'bob'";
      const problems = await afterTampering(reviewed, async (db) => {
        await db.query(sql, [extras]);
      });
      const places = problems.map(({ place }) => place);
      expect(places).toContain('Θ-0002');
      expect(places.some((place) => place.startsWith('task event '))).toBe(true);
    });
});

describe('rows that are compared as one value', () => {
  const breakers = [...ENTRY_BREAKERS, ...CONTENT_BREAKERS].filter(({ name }) =>
    /^(action\.e|arguments|extras|a thought)/.test(name),
  );
  for (const breaker of partOnPostgres(breakers, 1)) refused(finished, breaker);
});

/** Records of the first session, about which audit_verify_chain must report the same. */
const IN_SESSION = /^(extras|a thought with|a task with|a session with|thought|task\.updated|session\.started)/;

async function countDefects(db: Reader): Promise<number> {
  const session = await findSession(db, 'A-0001');
  if (session === undefined) return Number.NaN;
  return (await verifySession(db, session, { withTrace: false, progress: () => undefined })).defective;
}

function refused(ledger: Database, { name, breaks }: RuleBreaker): void {
  promiseTest('verify/grammar', name, async () => {
    let place = '';
    const problems = await afterTampering(ledger, async (db) => {
      const forging = new Forging(await readEvents(db));
      const broken = breaks(forging);
      place = forging.placeOf(broken);
      await writeLedger(db, forging.events);
      if (IN_SESSION.test(name)) expect(await countDefects(db)).toBeGreaterThan(0);
    });
    expect(problems.map((problem) => problem.place)).toContain(place);
  });
}
