import { randomUUID } from 'node:crypto';
import type { Reader } from '../../src/db/database.ts';
import type { TaskRow } from '../../src/domains/tasks/record.ts';
import { currentVersion } from '../../src/domains/tasks/versions.ts';
import { sha256 } from '../../src/integrity/index.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { verifyRecord } from '../../src/verification/verify-ledger.ts';
import { type BenchLedger, createTaskWithSession, recordOne } from './ledger.ts';

const CALLS = 40_000;
const RUNS = 9;

/** The whole record of a busy day, as the tools leave it: three entries for each decision. */
export async function measureVerification({ database }: BenchLedger): Promise<string[]> {
  const { taskNo, sessionNo } = await createTaskWithSession(database);
  const log = new CallRecorder(database, randomUUID());
  for (let number = 0; number < CALLS; number += 1) await recordAsTool(log, taskNo, sessionNo, number);
  return database.read(async (reader) => {
    const { chain, others } = await listPreimages(reader);
    const everything = [...chain, ...others];
    const wholeLedger = await compare(everything, async () => {
      const { problems } = await verifyRecord(reader);
      if (problems.length > 0) throw new Error(`${problems[0]?.place} ${problems[0]?.problem}`);
    });
    const oneChain = await compare(chain, async () => {
      const options = { withTrace: false, progress: () => undefined };
      const { broken } = await verifyTaskChain(reader, taskNo, options);
      if (broken.length > 0) throw new Error(`${broken[0]?.record} ${broken[0]?.problem}`);
    });
    const megabytes = everything.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
    return [
      `${3 * CALLS + 3} entries, ${everything.length} hashed texts, ${megabytes.toFixed(1)} MB`,
      `everything: ${wholeLedger} (bar: 3)`,
      `one chain of ${CALLS} records: ${oneChain}`,
    ];
  });
}

interface Time {
  readonly clock: number;
  readonly processor: number;
}

/** Both parts in turn, and the least of each: other programs on the machine only ever make them slower. */
async function compare(texts: readonly string[], verify: () => Promise<void>): Promise<string> {
  const hashing: Time[] = [];
  const verifying: Time[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    hashing.push(await timeOf(async () => hashAll(texts)));
    verifying.push(await timeOf(verify));
  }
  const least = (times: readonly Time[], by: keyof Time) => Math.min(...times.map((time) => time[by]));
  const ratio = (by: keyof Time) => (least(verifying, by) / least(hashing, by)).toFixed(2);
  const [alone, all] = [least(hashing, 'clock').toFixed(0), least(verifying, 'clock').toFixed(0)];
  return `${ratio('clock')} × hashing alone by the clock (${all} / ${alone} ms), ${ratio('processor')} × by processor time`;
}

async function timeOf(work: () => Promise<void>): Promise<Time> {
  const start = process.cpuUsage();
  const begin = performance.now();
  await work();
  const { user, system } = process.cpuUsage(start);
  return { clock: performance.now() - begin, processor: (user + system) / 1000 };
}

async function recordAsTool(log: CallRecorder, taskNo: number, sessionNo: number, number: number) {
  const event = {
    tool: 'thought_record',
    correlationId: String(number),
    actor: 'bench',
    at: '2026-04-08T23:15:00.000Z',
  };
  const argumentsText = `{"branch":"feature/strict-parser","content":"Decision ${number}: keep the parser strict, because a lax one let half of a surrogate pair through and the record could not be verified again.","task_id":"T-0001","type":"decision"}`;
  await log.enter({ ...event, args: {}, timestamp: 0, argumentsText });
  await log.run(event.correlationId, async (transaction) => {
    await recordOne(transaction.db, taskNo, sessionNo, number);
    await transaction.exit({ ...event, durationMs: 1, outcome: 'ok', answerText: argumentsText });
  });
}

/**
 * Every text whose digest is part of the record, as long as what is hashed; those that the one chain needs by
 * themselves.
 */
async function listPreimages(reader: Reader): Promise<{ chain: string[]; others: string[] }> {
  const list = async (sql: string, prefix: string) =>
    (await reader.query<{ text: string }>(sql)).map(({ text }) => prefix + text);
  const leaves = await list('SELECT entry AS text FROM ledger_entries', '.');
  const nodes = leaves.slice(1).map(() => '.'.repeat(65));
  const extras = await list('SELECT extras AS text FROM thoughts', 'colibri:extras:v1 0123456789abcdef');
  const chained = JSON.stringify({
    task_id: 'T-0001',
    type: 'decision',
    content: '',
    previous_hash: sha256(''),
    recorded_at: '2026-04-08T23:15:00.000Z',
    recorded_by: 'bench',
  });
  const links = await list('SELECT content AS text FROM thoughts', chained);
  const others = [
    ...(await list(
      'SELECT content AS text FROM ledger_entries WHERE content IS NOT NULL',
      'colibri:arguments:v1 0123456789abcdef',
    )),
    ...(await list('SELECT content AS text FROM task_versions', 'colibri:task:v1 0123456789abcdef')),
    ...(await reader.query<TaskRow>('SELECT * FROM tasks')).map(
      (row) => `colibri:task:v1 0123456789abcdef${currentVersion(row).content}`,
    ),
  ];
  // Flat strings: a rope would be flattened inside the measured loop.
  const flat = (texts: readonly string[]) => texts.map((text) => Buffer.from(text).toString());
  return { chain: flat([...leaves, ...nodes, ...extras, ...links]), others: flat(others) };
}

function hashAll(texts: readonly string[]): void {
  for (const text of texts) sha256(text);
}
