import type { Database, Reader } from '../src/db/database.ts';
import { sha256 } from '../src/integrity/index.ts';
import { ActionLog } from '../src/ledger/action-log.ts';
import { verifyEverything } from '../src/verify.ts';
import { type BenchLedger, createTaskWithSession, recordOne } from './trail-ledger.ts';

const CALLS = 40_000;
const RUNS = 7;

/** The whole record of a busy day, as the tools leave it: three entries for each decision. */
export async function measureVerification({ database }: BenchLedger): Promise<string[]> {
  const { taskNo, sessionNo } = await createTaskWithSession(database);
  const log = new ActionLog(database, 'bench');
  for (let number = 0; number < CALLS; number += 1) await recordAsTool(database, log, taskNo, sessionNo, number);
  return database.read(async (reader) => {
    const preimages = await listPreimages(reader);
    let [hashingMs, verifyingMs, size] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
    for (let run = 0; run < RUNS; run += 1) {
      hashingMs = Math.min(hashingMs, await cpuMs(async () => hashAll(preimages)));
      const verify = async () => {
        const report = await verifyEverything(reader);
        if (report.problems.length > 0) throw new Error(`${report.problems[0]?.place} ${report.problems[0]?.problem}`);
        size = report.size;
      };
      verifyingMs = Math.min(verifyingMs, await cpuMs(verify));
    }
    const megabytes = preimages.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
    return [
      `${size} entries, ${preimages.length} hashed texts, ${megabytes.toFixed(1)} MB`,
      `hashing alone ${hashingMs.toFixed(0)} ms, verifying everything ${verifyingMs.toFixed(0)} ms`,
      `${(verifyingMs / hashingMs).toFixed(2)} × the time of hashing alone (bar: 3)`,
      `${Math.round(size / (verifyingMs / 1000))} entries per second`,
    ];
  });
}

async function recordAsTool(database: Database, log: ActionLog, taskNo: number, sessionNo: number, number: number) {
  const event = {
    tool: 'thought_record',
    correlationId: String(number),
    actor: 'bench',
    at: '2026-04-08T23:15:00.000Z',
  };
  const argumentsText = `{"branch":"feature/strict-parser","content":"Decision ${number}: keep the parser strict, because a lax one let half of a surrogate pair through and the record could not be verified again.","task_id":"T-0001","type":"decision"}`;
  await log.enter({ ...event, args: {}, timestamp: 0, argumentsText });
  await database.write({ durable: true }, async (db) => {
    log.prepareExit(event.correlationId, db);
    await recordOne(db, taskNo, sessionNo, number);
    await log.exit({ ...event, durationMs: 1, outcome: 'ok', answerText: argumentsText }, db);
  });
}

/** Every text whose digest is part of the record, as long as what is hashed. */
async function listPreimages(reader: Reader): Promise<string[]> {
  const texts: string[] = [];
  const add = async (sql: string, prefix: string) => {
    for (const { text } of await reader.query<{ text: string }>(sql)) texts.push(prefix + text);
  };
  const node = '.'.repeat(65);
  await add('SELECT entry AS text FROM ledger_entries', '.');
  texts.push(...texts.slice(1).map(() => node));
  await add('SELECT arguments AS text FROM calls', 'colibri:arguments:v1 0123456789abcdef');
  await add('SELECT extras AS text FROM thoughts', 'colibri:extras:v1 0123456789abcdef');
  await add('SELECT content AS text FROM task_events', 'colibri:task:v1 0123456789abcdef');
  const chained = JSON.stringify({
    task_id: 'T-0001',
    type: 'decision',
    content: '',
    previous_hash: sha256(''),
    recorded_at: '2026-04-08T23:15:00.000Z',
    recorded_by: 'bench',
  });
  await add('SELECT content AS text FROM thoughts', chained);
  // Flat strings: a rope would be flattened inside the measured loop.
  return texts.map((text) => Buffer.from(text).toString());
}

function hashAll(texts: readonly string[]): void {
  for (const text of texts) sha256(text);
}

/** Time on the processor, both parts in turn: other programs on the machine disturb it less than the clock. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
