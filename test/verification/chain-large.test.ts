import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished } from 'vitest';
import { createTaskWithSession, growChain } from '../../bench/trail/ledger.ts';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { type Hasher, type HashJob, hashHere } from '../../src/verification/hashing.ts';
import { verifySession, verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { tempFolder } from '../support/folders.ts';
import { openTestLedger, tamper } from '../support/ledger.ts';
import { cleanEnvironment, countThreads, type Environment, PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Enough for a thread, where there is a second core. */
const RECORDS = 19_500;
const FORGED = 19_000;

describe('audit_verify_chain', () => {
  promiseTest(
    'trail/progress',
    'from a chain that is long enough for a second thread, whole and tampered with',
    async () => {
      const folder = tempFolder();
      const path = join(folder, 'colibri.db');
      const database = await openTestLedger({ path });
      const { taskNo, sessionNo } = await createTaskWithSession(database);
      await growChain(database, taskNo, sessionNo, 0, RECORDS);
      await database.close();
      const threads = countThreads(folder);

      const whole = await verifyChain(folder, threads.env, { task_id: 'T-0001', full_trace: true });
      expect(whole.report).toMatchObject({ chain_valid: true, total_records: RECORDS, integrity_score: 100 });
      expect(whole.reached.at(-1)).toBe(RECORDS);
      const { trace } = whole.report;
      expect([trace.length, trace.at(-1)?.position]).toEqual([10_000, 10_000]);
      expect(whole.report).toMatchObject({ trace_total: RECORDS, truncated: true });
      expect(threads.hasStarted()).toBe(availableParallelism() > 1);

      await tamper(path, `UPDATE thoughts SET extras = '{}' WHERE chain_position = ${FORGED}`);
      const forged = await verifyChain(folder, threads.env, { task_id: 'T-0001', session_id: 'A-0001' });
      expect(forged.report).toMatchObject({ chain_valid: false, total_records: 2 * RECORDS });
      expect(forged.report.broken_links.map(({ position }) => position)).toEqual([FORGED, FORGED]);
      // Each part may run a second pass; progress still only rises.
      expect(forged.reached.at(-1)).toBeGreaterThanOrEqual(2 * RECORDS);
      expect(forged.reached).toEqual([...new Set(forged.reached)].toSorted((left, right) => left - right));
    },
  );

  promiseTest('trail/progress', 'for each page, and waits for the worker so that the backlog stays short', async () => {
    const database = await openTestLedger();
    const { taskNo, sessionNo } = await createTaskWithSession(database);
    await growChain(database, taskNo, sessionNo, 0, 2500);
    const pausedAt: number[] = [];
    let reached = 0;
    const start = (job: HashJob): Hasher => ({
      ...hashHere(job),
      drain: async () => {
        pausedAt.push(reached);
      },
    });
    const options = { withTrace: false, progress: (done: number) => (reached = done), start };
    await database.read(async (reader) => {
      await verifyTaskChain(reader, taskNo, options);
      const session = await findSession(reader, 'A-0001');
      reached = 0;
      if (session !== undefined) await verifySession(reader, session, options);
    });
    // Before each page is reported as done, in the chain and in the session.
    expect(pausedAt).toEqual([0, 1000, 2000, 0, 1000, 2000]);
  });
});

interface ChainAnswer {
  readonly broken_links: readonly { readonly position: number }[];
  readonly trace: readonly { readonly position: number }[];
}

async function verifyChain(folder: string, env: Environment, scope: Record<string, unknown>) {
  const client = new Client({ name: 'test-client', version: '1.0.0' });
  onTestFinished(() => client.close());
  const variables = cleanEnvironment({ ...env, COLIBRI_DB_PATH: join(folder, 'colibri.db') });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM],
      cwd: folder,
      env: variables,
      stderr: 'ignore',
    }),
  );
  const reached: number[] = [];
  const { structuredContent } = await client.callTool(
    { name: 'audit_verify_chain', arguments: scope },
    { onprogress: ({ progress }) => reached.push(progress) },
  );
  await client.close();
  return { report: (structuredContent as { data: ChainAnswer }).data, reached };
}
