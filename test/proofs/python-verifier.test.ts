import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import type { ForgedEvent } from '../support/forge/event.ts';
import { readEvents, writeLedger } from '../support/forge/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { buildFullLedger, buildRuleLedger, openFile, TWO_LEVELS } from '../support/sample-ledgers.ts';
import { CLAIM_BREAKERS } from '../verification/forge/break-claims.ts';
import { CONTENT_BREAKERS } from '../verification/forge/break-contents.ts';
import { ENTRY_BREAKERS } from '../verification/forge/break-entries.ts';
import { HISTORY_BREAKERS } from '../verification/forge/break-history.ts';
import { buildReviewedLedger, REVIEW_BREAKERS } from '../verification/forge/break-reviews.ts';
import { atEntry, Forging, type RuleBreaker } from '../verification/forge/forging.ts';
import { judgeInPython } from './fixtures/python-verifier.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-python-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function build(name: string, fill: (path: string) => Promise<void>): Promise<string> {
  await fill(join(folder, name));
  return join(folder, name);
}

const rules = await build('rules.db', buildRuleLedger);
const reviewed = await build('reviewed.db', buildReviewedLedger);
const full = await build('full.db', (path) => buildFullLedger(path, TWO_LEVELS));

describe('examples/verify.py on ledgers', () => {
  promiseTest('format/python', 'honest ledgers', async () => {
    const ledgers = [rules, reviewed, full];
    const reports = await Promise.all(ledgers.map(judgeInNode));
    expect(reports.map(({ verdict }) => verdict)).toEqual(['whole', 'whole', 'whole']);
    const python = judgeInPython(ledgers.map((file) => [file]));
    expect(python ?? reports).toEqual(reports);
  });

  promiseTest('format/python', 'a ledger that a forger rewrote without a change', async () => {
    const { file } = await forge(rules, {
      name: 'nothing',
      breaks: ({ events: [event] }) => atEntry(event as ForgedEvent),
    });
    const report = await judgeInNode(file);
    expect(report.verdict).toBe('whole');
    expect(judgeInPython([[file]]) ?? [report]).toEqual([report]);
  });

  promiseTest('format/python', 'ledgers whose hashes a forger recomputed', async () => {
    const forged: { name: string; file: string }[] = [];
    const breakers = [...ENTRY_BREAKERS, ...CONTENT_BREAKERS, ...HISTORY_BREAKERS, ...CLAIM_BREAKERS];
    for (const breaker of sample(breakers, 24)) forged.push(await forge(rules, breaker));
    for (const breaker of sample(REVIEW_BREAKERS, 3)) forged.push(await forge(reviewed, breaker));
    const node = await Promise.all(forged.map(({ file }) => judgeInNode(file)));
    expect(node.filter(({ verdict }) => verdict !== 'tampered')).toEqual([]);
    const python = judgeInPython(forged.map(({ file }) => [file])) ?? node;
    const missed = forged.filter((_, place) => python[place]?.verdict !== 'tampered');
    expect(missed.map(({ name }) => name)).toEqual([]);
  });
});

async function judgeInNode(file: string) {
  const database = await openFile(file);
  try {
    const { size, root, problems } = await database.read((reader) => verifyEverything(reader));
    return { verdict: problems.length > 0 ? 'tampered' : 'whole', size, root };
  } finally {
    await database.close();
  }
}

/** A copy of the ledger that breaks one rule, consistent down to the last hash. */
async function forge(ledger: string, { name, breaks }: RuleBreaker): Promise<{ name: string; file: string }> {
  const file = join(folder, `forged-${++copies}.db`);
  copyFileSync(ledger, file);
  const database = await openFile(file);
  await database.write({ durable: false }, async (transaction) => {
    await transaction.run('PRAGMA ignore_check_constraints = ON');
    const forging = new Forging(await readEvents(transaction));
    breaks(forging);
    await writeLedger(transaction, forging.events);
  });
  await database.close();
  return { name, file };
}
let copies = 0;
