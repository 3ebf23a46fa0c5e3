import { spawnSync } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Reader } from '../../src/db/database.ts';
import { createProofTools } from '../../src/domains/proofs/tools.ts';
import { createTrailTools } from '../../src/domains/trail/tools.ts';
import { formatSessionId, formatTaskId } from '../../src/ids.ts';
import { verifyRecord } from '../../src/verification/verify-ledger.ts';
import { type BenchLedger, createTaskWithSession, growChain, undone } from './ledger.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const SMALL_HEAP = '--max-old-space-size=32';

/** What is alive while the record is checked or sealed, at sizes two powers of ten apart. */
export async function measureMemory({ database, folder }: BenchLedger): Promise<string[]> {
  const lines: string[] = [];
  const { taskNo, sessionNo } = await createTaskWithSession(database);
  const finalize = createProofTools(() => undefined).find(({ name }) => name === 'merkle_finalize');
  const verifyChain = createTrailTools().find(({ name }) => name === 'audit_verify_chain');
  const task_id = formatTaskId(taskNo);
  const env = { ...process.env, COLIBRI_DB_PATH: `${folder}/colibri.db`, COLIBRI_LOG_LEVEL: 'error' } as Record<
    string,
    string
  >;
  let length = 0;
  for (const records of SIZES) {
    await growChain(database, taskNo, sessionNo, length, records);
    length = records;
    const verified = await database.read((reader) => sampled(reader, (db) => verifyRecord(db)));
    const common = {
      actor: 'bench',
      at: '2026-04-08T23:15:00.000Z',
      progress: () => undefined,
      signal: new AbortController().signal,
    };
    const checked = await database.read((reader) =>
      sampled(reader, async (db) => {
        const context = { ...common, db };
        await verifyChain?.handle({ task_id }, context);
      }),
    );
    const sealed = await undone(database, (transaction) =>
      sampled(transaction, async (db) => {
        const context = { ...common, db };
        await finalize?.handle({ session_id: formatSessionId(sessionNo) }, context);
      }),
    );
    lines.push(
      `${records} records, live memory above the start: verify ${verified}, audit_verify_chain ${checked}, merkle_finalize ${sealed}`,
      `${records} records, ${SMALL_HEAP}: colibri verify ${verifyInSmallHeap(env)}`,
      `${records} records, ${SMALL_HEAP}: audit_verify_chain ${await askServerWithSmallHeap(env, task_id)}`,
    );
  }
  return lines;
}

const BETWEEN_SAMPLES_MS = 20;

/** The most that was alive at any of many moments of the work, above what was alive before it. */
async function sampled<Db extends Reader>(db: Db, work: (db: Db) => Promise<unknown>): Promise<string> {
  const before = liveBytes();
  let [peak, last] = [before, performance.now()];
  const sample = () => {
    peak = Math.max(peak, liveBytes());
    last = performance.now();
  };
  const watched: Db = {
    ...db,
    query: (sql: string, parameters: Parameters<Reader['query']>[1]) => {
      if (performance.now() - last > BETWEEN_SAMPLES_MS) sample();
      return db.query(sql, parameters);
    },
  };
  await work(watched);
  sample();
  return `${((peak - before) / 1e6).toFixed(1)} MB`;
}

function liveBytes(): number {
  if (globalThis.gc === undefined) throw new Error('run node with --expose-gc');
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The program itself, with less room than the log takes. */
function verifyInSmallHeap(env: Record<string, string>): string {
  const begin = performance.now();
  const { status, signal, stderr } = spawnSync(process.execPath, [SMALL_HEAP, 'dist/colibri.cjs', 'verify'], {
    env,
    encoding: 'utf8',
  });
  return `ends with ${status ?? signal} after ${secondsSince(begin)} s ${stderr}`.trimEnd();
}

async function askServerWithSmallHeap(env: Record<string, string>, task_id: string): Promise<string> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SMALL_HEAP, 'dist/colibri.cjs'], env }),
  );
  try {
    const begin = performance.now();
    let [notices, first] = [0, ''];
    const onprogress = () => {
      notices += 1;
      if (notices === 1) first = secondsSince(begin);
    };
    const call = { name: 'audit_verify_chain', arguments: { task_id } };
    const { structuredContent } = await client.callTool(call, { onprogress, timeout: 600_000 });
    const { data } = structuredContent as { data: { chain_valid: boolean } };
    const verdict = data.chain_valid ? 'valid' : 'broken';
    return `says ${verdict} after ${secondsSince(begin)} s, ${notices} notices of progress, the first after ${first} s`;
  } finally {
    await client.close();
  }
}

function secondsSince(begin: number): string {
  return ((performance.now() - begin) / 1000).toFixed(1);
}
