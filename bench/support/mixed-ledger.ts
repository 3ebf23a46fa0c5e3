import type { Client } from '@modelcontextprotocol/client';
import type { Database } from '../../src/db/database.ts';
import { canonicalize, commitKey, type Entry, type Json, saltedDigest, sha256 } from '../../src/integrity/index.ts';
import { type Observation, recordObservations } from '../../src/recorder/record.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { seededRandom } from '../../test/support/random.ts';
import { startClient } from './servers.ts';

const AGENTS = 4;
const STEPS_PER_LOOK = 100;
const THOUGHTS = 4;
const SHELL_CALLS = 3;
const SALT = '00112233445566778899aabbccddeeff';

/**
 * A ledger of about `size` entries as agents leave it: each creates a task, claims it, records thoughts in a session
 * while its commands are observed, commits, is done and seals the session. Which agent is next is left to chance.
 */
export async function fillWithWork(dbPath: string, size: number): Promise<void> {
  const client = await startClient({ COLIBRI_DB_PATH: dbPath, COLIBRI_DURABILITY: 'relaxed' });
  const database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, dbPath });
  const random = seededRandom(20_261_118);
  const begin = (number: number) => ({ number, steps: workOn(client, database, number) });
  const works = Array.from({ length: AGENTS }, (_, agent) => begin(agent));
  try {
    while ((await sizeOf(database)) < size) {
      for (let step = 0; step < STEPS_PER_LOOK; step += 1) {
        const agent = Math.floor(random() * AGENTS);
        const work = works[agent] as ReturnType<typeof begin>;
        const { done } = await work.steps.next();
        if (done === true) works[agent] = begin(work.number + AGENTS);
      }
    }
  } finally {
    await client.close();
    await database.close();
  }
}

async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.read((reader) => reader.query<{ size: number }>('SELECT size FROM ledger_head'));
  return row?.size ?? 0;
}

/** The life of one task; each step is one call or report. */
async function* workOn(client: Client, database: Database, number: number): AsyncGenerator<void> {
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: args });
    if (isError === true) throw new Error(`${name} was refused: ${JSON.stringify(structuredContent)}`);
    return (structuredContent as { data: Record<string, string> }).data;
  };
  const observe = (observations: readonly Observation[]) =>
    database.write({ durable: false }, (db) => recordObservations(db, observations));

  const { task_id = '' } = await call('task_create', {
    title: `Refuse half of a surrogate pair in parser ${number}`,
    description: 'A lax parser lets it through, and the record can then not be verified again.',
    labels: ['parser', `part-${number % 20}`],
    status: 'todo',
  });
  yield;
  await call('task_update', { task_id, status: 'in_progress', assignee: `agent-${number % AGENTS}` });
  yield;
  const { session_id = '' } = await call('audit_session_start', { task_id, auditor_id: 'reviewer', reason: 'release' });
  yield;
  for (let step = 0; step < THOUGHTS; step += 1) {
    if (step < SHELL_CALLS) {
      for (const phase of ['before', 'after'] as const) {
        await observe([shellCall(number, step, phase)]);
        yield;
      }
    }
    await call('thought_record', {
      task_id,
      type: step % 2 === 0 ? 'decision' : 'discovery',
      content: `Step ${step} of ${number}: keep the parser strict, because a lax one let half of a surrogate pair through.\nThe tests say "refused" for each of them.`,
      branch: 'feature/strict-parser',
      ...(step > 0 && { tests_run: ['parser.test.ts'] }),
    });
    yield;
  }
  await observe([commit(number, task_id)]);
  yield;
  await call('task_list', { status: ['todo', 'in_progress'], limit: 5 });
  yield;
  await call('task_update', { task_id, status: 'review', progress: 90 });
  yield;
  await call('task_update', { task_id, status: 'done', progress: 100 });
  yield;
  await call('merkle_finalize', { session_id });
}

function shellCall(number: number, step: number, phase: 'before' | 'after'): Observation {
  const command = `npx vitest run src/parser/part-${number % 20}.test.ts`;
  const isAfter = phase === 'after';
  const entry = {
    kind: 'observed',
    actor: 'hook:claude-code',
    client: 'claude-code',
    session: uuidOf(`session ${number % AGENTS}`),
    event: isAfter ? 'PostToolUse' : 'PreToolUse',
    phase,
    tool: 'Bash',
    action: 'shell',
    call_id: `toolu_${sha256(`${number} ${step}`).slice(0, 24)}`,
    input: sha256(command),
    key: sha256(`${number} ${step} ${phase}`).slice(0, 32),
    ...(isAfter && { outcome: 'ok', exit_code: 0, duration_ms: 1000 + number, output: sha256(`${number}`) }),
  };
  const output = `✓ ${number} tests passed\n\n Test Files  1 passed (1)\n      Tests  ${number} passed (${number})\n`;
  return observation(entry, { command, ...(isAfter && { output, exit_code: 0 }) });
}

function commit(number: number, task_id: string): Observation {
  const sha = sha256(`commit ${number}`).slice(0, 40);
  const entry = {
    kind: 'observed.commit',
    actor: 'hook:git',
    sha,
    tree: sha256(`tree ${number}`).slice(0, 40),
    parents: [sha256(`commit ${number - 1}`).slice(0, 40)],
    key: commitKey(sha),
    task_id,
  };
  return observation(entry, { branch: 'feature/strict-parser', paths: ['src/parser.ts', 'src/parser.test.ts'] });
}

function observation(entry: Readonly<Record<string, Json>>, content: Json): Observation {
  const text = canonicalize(content);
  const digest = saltedDigest('observed-content', SALT, text);
  const complete = { v: 1, at: new Date().toISOString(), ...entry, content: digest };
  return { entry: complete as unknown as Entry, salt: SALT, content: text };
}

function uuidOf(name: string): string {
  const digits = sha256(name);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
