import { join } from 'node:path';
import type { Database, Reader } from '../../src/db/database.ts';
import { taskFields } from '../../src/domains/tasks/record.ts';
import { listVersions } from '../../src/domains/tasks/versions.ts';
import { parseEntry } from '../../src/integrity/index.ts';
import { assertWhole, openServer, type TestServer, withFolder } from './test-server.ts';

/** Agents on one ledger, each a server of its own. */
export interface Crew {
  readonly alice: TestServer;
  readonly bob: TestServer;
  readonly carol: TestServer;
  /** Makes the last signs of life of an actor older, as if it had been silent for so long. */
  readonly silence: (actor: string, ms: number) => Promise<void>;
}

const NAMES = ['alice', 'bob', 'carol'] as const;

/** Runs a test with three agents on a new ledger and verifies all of it at the end. */
export async function withCrew(
  work: (crew: Crew) => Promise<void>,
  settings: { readonly COLIBRI_CLAIM_TTL?: string; readonly COLIBRI_WORKFLOW?: string } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    const servers: TestServer[] = [];
    for (const name of NAMES) servers.push(await openServer(path, name, { settings }));
    const [alice, bob, carol] = servers as [TestServer, TestServer, TestServer];
    try {
      await work({ alice, bob, carol, silence: (actor, ms) => silence(bob.database, actor, ms) });
      await assertWhole(bob.database);
    } finally {
      for (const server of servers) await server.close();
    }
  });
}

export async function silence(database: Database, actor: string, ms: number): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    await transaction.query('UPDATE presence SET clock_ms = clock_ms - $2 WHERE actor = $1', [actor, ms]);
  });
}

export interface RefereeOptions {
  readonly ttlMs: number;
  readonly clockErrorOf: (actor: string) => number;
}

export interface Verdict {
  readonly problems: readonly string[];
  readonly takeovers: number;
  readonly done: number;
}

interface Call {
  readonly sequence_no: number;
  readonly exit_idx: number | null;
  readonly actor: string;
  readonly entered_at: string;
  readonly exited_at: string | null;
}

/** Checks from the log alone what a crew must keep to, task by task and entry by entry. */
export async function judge(db: Reader, { ttlMs, clockErrorOf }: RefereeOptions): Promise<Verdict> {
  const problems: string[] = [];
  const calls = await db.query<Call>(
    'SELECT sequence_no, exit_idx, actor, entered_at, exited_at FROM calls ORDER BY sequence_no',
  );
  const thoughts = await readThoughts(db);
  let [takeovers, done] = [0, 0];
  for (const { task_no } of await db.query<{ task_no: number }>('SELECT task_no FROM tasks ORDER BY task_no')) {
    let [holder, lastHolder, token] = [null as string | null, null as string | null, -1];
    let status = '';
    for (const { idx, content, entry: text } of await listVersions(db, task_no)) {
      const entry = parseEntry(text ?? '');
      if (content === null || entry === undefined) {
        problems.push(`task ${task_no}: entry ${idx} is unreadable`);
        continue;
      }
      const version = taskFields.fromContent(content);
      const isChange = version.status !== status || version.holder !== holder;
      if (holder !== null && isChange && entry.actor !== holder) {
        takeovers += 1;
        if (version.taken_from !== holder)
          problems.push(`task ${task_no}: ${entry.actor} changed it at ${idx} while ${holder} held it`);
        const silentMs = silenceAt(calls, { holder, taker: entry.actor, idx }, clockErrorOf);
        if (silentMs < ttlMs) problems.push(`task ${task_no}: ${holder} lost it at ${idx} after ${silentMs} ms`);
      }
      if (version.holder !== null && version.holder !== holder) {
        if (idx <= token) problems.push(`task ${task_no}: the token fell from ${token} to ${idx}`);
        token = idx;
        lastHolder = version.holder;
      }
      ({ holder, status } = version);
    }
    if (status !== 'done') problems.push(`task ${task_no}: is ${status} at the end`);
    else done += 1;
    if (!thoughts.has(`${task_no} ${lastHolder}`))
      problems.push(`task ${task_no}: ${lastHolder} held it last and recorded no thought`);
  }
  return { problems, takeovers, done };
}

/** The longest silence that the decision at this index can have seen: up to the exit of the call that took over. */
function silenceAt(
  calls: readonly Call[],
  { holder, taker, idx }: { readonly holder: string; readonly taker: string; readonly idx: number },
  clockErrorOf: (actor: string) => number,
): number {
  const last = calls.findLast(({ sequence_no, actor }) => sequence_no < idx && actor === holder);
  const taking = calls
    .filter(({ exit_idx, actor }) => (exit_idx ?? 0) > idx && actor === taker)
    .toSorted((left, right) => (left.exit_idx ?? 0) - (right.exit_idx ?? 0))[0];
  const endMs = Date.parse(taking?.exited_at ?? '') - clockErrorOf(taker);
  return endMs - (Date.parse(last?.entered_at ?? '') - clockErrorOf(holder));
}

/** "task actor" for each thought. A former holder may still record one: thoughts are open to every agent. */
async function readThoughts(db: Reader): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ task_no: number; recorded_by: string }>('SELECT task_no, recorded_by FROM thoughts');
  return new Set(rows.map(({ task_no, recorded_by }) => `${task_no} ${recorded_by}`));
}
