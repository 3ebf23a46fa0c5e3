import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import { writeTiles } from '../src/cli/proofs/tiles.ts';
import type { Database } from '../src/db/database.ts';
import { isConsistent, isIncluded, leafHash, parseVerifierKey, sha256, verifyBytes } from '../src/integrity/index.ts';
import { foldLeaves } from '../src/integrity/merkle.ts';
import { readHead } from '../src/ledger/head.ts';
import { openLedger } from '../src/ledger/open.ts';
import { BLOCK, LEVELS_PER_BLOCK, StoredTree } from '../src/ledger/stored-tree.ts';
import { openDatabase } from '../src/trust/open-database.ts';
import { readSignedLog, type SignedLog } from '../test/proofs/fixtures/signed-log.ts';
import { signingKey } from '../test/support/signing-key.ts';
import { fillFile } from './support/fill.ts';
import { listHashed } from './support/hashed-texts.ts';
import { summarize } from './support/measure.ts';
import { fillWithWork } from './support/mixed-ledger.ts';

/**
 * What proofs cost: bundles in Node and in a browser, inclusion and consistency proofs of a large log, published tiles.
 * Usage: node scripts/run-ts.mjs bench/proofs.ts [--write]
 */

const ENTRIES = 100_000;
const LARGE = 10_000_000;
const RUNS = 5;
const PROOFS = 200;

interface Row {
  readonly measured: string;
  readonly result: string;
  readonly bar: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'colibri-proofs-'));
try {
  const report = render(await measureAll());
  console.log(report);
  if (process.argv.includes('--write')) writeFileSync(join(root, 'bench/results/proofs.md'), report);
} finally {
  rmSync(folder, { recursive: true });
}

async function measureAll(): Promise<Row[]> {
  const path = join(folder, 'colibri.db');
  await fillFile(path, ENTRIES);
  const database = await open(path);
  const log = await database.read(readSignedLog);
  const bundle = log.bundle();
  const mixed = await readMixedLog();
  const rows = [
    measureInNode('new tasks alone', log, bundle),
    measureInNode('calls, thoughts, tasks, observed events, sealed sessions', mixed, mixed.bundle()),
    await measureInBrowser(log, bundle),
    await measureTiles(database),
  ];
  await database.close();
  return [...rows, ...(await measureProofs()), measureSignature()];
}

async function readMixedLog(): Promise<SignedLog> {
  const path = join(folder, 'mixed.db');
  await fillWithWork(path, ENTRIES);
  const database = await open(path);
  try {
    return await database.read(readSignedLog);
  } finally {
    await database.close();
  }
}

function open(dbPath: string): Promise<Database> {
  return openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, dbPath });
}

/** Over hashing alone. Both in turns, as the machine has moods. */
function measureInNode(holding: string, { entries, key }: SignedLog, bundle: string): Row {
  const file = new TextEncoder().encode(bundle);
  const texts = listHashed(entries);
  const [hashing = 0, verifying = 0] = leastOf([
    () => {
      for (const text of texts) sha256(text);
    },
    () => {
      const { claims } = verifyBytes(file, { log: [parseVerifierKey(key)] });
      const broken = claims.find(({ holds }) => holds === 'no');
      if (broken !== undefined) throw new Error(broken.says);
    },
  ]);
  return {
    measured: `verifying a bundle of ${entries.length} entries in Node, over hashing alone: ${holding}`,
    result: `${(verifying / hashing).toFixed(2)} × (${verifying.toFixed(0)} ms)`,
    bar: '3 ×',
  };
}

/** The shortest time of each, run in turns. */
function leastOf(works: readonly (() => void)[]): number[] {
  const rounds = Array.from({ length: RUNS }, () =>
    works.map((work) => {
      const start = performance.now();
      work();
      return performance.now() - start;
    }),
  );
  return works.map((_, place) => Math.min(...rounds.map((times) => times[place] ?? 0)));
}

async function measureInBrowser({ key }: SignedLog, bundle: string): Promise<Row> {
  const [page, file] = [join(folder, 'page.html'), join(folder, 'bundle.colibri')];
  writeFileSync(page, brotliDecompressSync(readFileSync(join(root, 'dist/page.html.br'))));
  writeFileSync(file, bundle);
  const args = chromium.args.filter((name) => name !== '--single-process');
  const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
  try {
    const tab = await browser.newPage();
    await tab.goto(pathToFileURL(page).href);
    await tab.evaluate(`document.title = 'waiting'; document.getElementById('keys').value = ${JSON.stringify(key)}`);
    const start = performance.now();
    await tab.setInputFiles('#file', file);
    // The policy of the page forbids what Playwright would poll with.
    while ((await tab.title()) === 'waiting' || (await tab.title()).startsWith('Reading')) await setTimeout(10);
    const seconds = (performance.now() - start) / 1000;
    const title = await tab.title();
    if (!title.startsWith('Checked')) throw new Error(`the page says: ${title}`);
    return {
      measured: 'reading, verifying and showing the bundle of new tasks in Chromium',
      result: `${seconds.toFixed(1)} s`,
      bar: '5 s',
    };
  } finally {
    await browser.close();
  }
}

async function measureTiles(database: Database): Promise<Row> {
  const { size, root: signed } = await database.read(readHead);
  const start = performance.now();
  await database.read((reader) =>
    writeTiles(reader, join(folder, 'tiles'), { from: 0, to: size, root: signed, progress: () => undefined }),
  );
  const perSecond = size / ((performance.now() - start) / 1000);
  return { measured: 'publishing tiles', result: `${Math.round(perSecond)} entries/s`, bar: '100,000' };
}

/** A log of entries without content: proofs read nothing else. */
async function measureProofs(): Promise<Row[]> {
  const database = await open(join(folder, 'large.db'));
  try {
    await fillTree(database);
    const memory = process.memoryUsage.rss();
    const inclusion: number[] = [];
    const consistency: number[] = [];
    await database.read(async (reader) => {
      const whole = await new StoredTree(reader, LARGE).root();
      for (let proof = 0; proof < PROOFS; proof += 1) {
        const index = (proof * 7_919_777) % LARGE;
        const start = performance.now();
        const path = await new StoredTree(reader, LARGE).inclusionProof(index);
        inclusion.push((performance.now() - start) * 1000);
        if (!isIncluded({ leaf: leafHash(entryOf(index)), index, size: LARGE, proof: path, root: whole }))
          throw new Error(`entry ${index} is not included`);
        const oldSize = index + 1;
        const oldRoot = await new StoredTree(reader, oldSize).root();
        const begin = performance.now();
        const steps = await new StoredTree(reader, LARGE).consistencyProof(oldSize);
        consistency.push((performance.now() - begin) * 1000);
        if (!isConsistent({ oldSize, oldRoot, size: LARGE, root: whole, proof: steps }))
          throw new Error(`the log of ${oldSize} entries is not extended`);
      }
    });
    const grown = (process.memoryUsage.rss() - memory) / 2 ** 20;
    const row = (name: string, times: number[]) => {
      const { p50Us, p95Us } = summarize(times);
      return {
        measured: `${name} proof in a log of ${LARGE} entries`,
        result: `p50 ${(p50Us / 1000).toFixed(2)} ms, p95 ${(p95Us / 1000).toFixed(2)} ms`,
        bar: 'milliseconds',
      };
    };
    return [
      row('inclusion', inclusion),
      row('consistency', consistency),
      { measured: `memory that ${2 * PROOFS} such proofs add`, result: `${grown.toFixed(1)} MB`, bar: 'flat' },
    ];
  } finally {
    await database.close();
  }
}

function entryOf(index: number): string {
  return `{"n":${index}}`;
}

/** Entries and the nodes that an append would have stored, level by level. */
async function fillTree(database: Database): Promise<void> {
  await openLedger(database, 'bench', '2026-04-08T23:15:00.000Z');
  let blocks: string[] = [];
  await database.write({ durable: false }, async (db) => {
    db.send('DELETE FROM ledger_entries');
    const leaves: string[] = [];
    for (let index = 0; index < LARGE; index += 1) {
      const entry = entryOf(index);
      db.send('INSERT INTO ledger_entries (idx, entry) VALUES ($1, $2)', [index, entry]);
      leaves.push(leafHash(entry));
      if (leaves.length < BLOCK) continue;
      blocks.push(foldLeaves(leaves));
      leaves.length = 0;
    }
  });
  await database.write({ durable: false }, async (db) => {
    for (let level = LEVELS_PER_BLOCK; blocks.length > 0; level += LEVELS_PER_BLOCK) {
      blocks.forEach((hash, index) => {
        db.send('INSERT INTO ledger_nodes (level, idx, hash) VALUES ($1, $2, $3)', [level, index, hash]);
      });
      const full = Math.floor(blocks.length / BLOCK);
      blocks = Array.from({ length: full }, (_, index) => foldLeaves(blocks.slice(index * BLOCK, (index + 1) * BLOCK)));
    }
  });
}

/** Off the path of a call: a server signs after the answer, and at most once for many entries. */
function measureSignature(): Row {
  const key = signingKey(1);
  const text = 'colibri/bench\n1\nroot\n';
  const [ms = 0] = leastOf([
    () => {
      for (let count = 0; count < 1000; count += 1) key.signNote('colibri/bench', text);
    },
  ]);
  return { measured: 'one signature, after the answer of a call', result: `${ms.toFixed(0)} µs`, bar: 'off the path' };
}

function render(rows: readonly Row[]): string {
  const [cpu] = cpus();
  const lines = rows.map(({ measured, result, bar }) => `| ${measured} | ${result} | ${bar} |`);
  return [
    '# Proofs',
    '',
    'Written by `node scripts/run-ts.mjs bench/proofs.ts --write`.',
    '',
    `Node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown'}`,
    '',
    '| measured | result | bar |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
