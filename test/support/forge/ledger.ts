import type { Reader, Transaction } from '../../../src/db/database.ts';
import type { TaskRow } from '../../../src/domains/tasks/record.ts';
import { currentVersion } from '../../../src/domains/tasks/versions.ts';
import { canonicalize, leafHash, saltedDigest, thoughtHash } from '../../../src/integrity/index.ts';
import { storeFinishedSubtrees } from '../../../src/ledger/stored-tree.ts';
import { nextTail } from '../../../src/ledger/tail.ts';
import { naiveRoot } from '../../vectors/naive.ts';
import { type ForgedEvent, type Loose, placesOf, type WrittenEvent } from './event.ts';
import { writeProjections } from './projections.ts';

interface ContentRow {
  readonly idx: number;
  readonly salt: string;
  readonly content: string;
}

/** Takes an honest ledger apart. */
export async function readEvents(reader: Reader): Promise<ForgedEvent[]> {
  const entries = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries ORDER BY idx');
  const contents = new Map<number, ContentRow>();
  for (const sql of [
    'SELECT idx, salt, content FROM ledger_entries WHERE salt IS NOT NULL',
    'SELECT idx, salt, content FROM task_versions',
    'SELECT idx, salt, content FROM project_options',
    'SELECT idx, salt, content FROM observations',
    'SELECT idx, salt, extras AS content FROM thoughts',
    "SELECT start_idx AS idx, salt, '' AS content FROM sessions",
  ])
    for (const row of await reader.query<ContentRow>(sql)) contents.set(row.idx, row);
  for (const row of await reader.query<TaskRow>('SELECT * FROM tasks'))
    contents.set(row.event_idx, { ...currentVersion(row), content: currentVersion(row).content ?? '' });
  const thoughts = await byIndex<{ idx: number; type: string; content: string }>(
    reader,
    'SELECT idx, type, content FROM thoughts',
  );
  const sessions = await byIndex<{ idx: number; auditor_id: string; reason: string | null }>(
    reader,
    'SELECT start_idx AS idx, auditor_id, reason FROM sessions',
  );
  const events: ForgedEvent[] = [];
  for (const [index, { entry }] of entries.entries()) {
    const fields = JSON.parse(entry) as Loose;
    const enter = typeof fields['sequence_no'] === 'number' ? events[fields['sequence_no']] : undefined;
    const [thought, session] = [thoughts.get(index), sessions.get(index)];
    const { salt = '', content = '' } = contents.get(index) ?? {};
    events.push({
      fields,
      salt,
      content,
      ...(enter === undefined ? {} : { enter }),
      ...(thought === undefined ? {} : { thought: { type: thought.type, content: thought.content } }),
      ...(session === undefined ? {} : { session: { auditor_id: session.auditor_id, reason: session.reason } }),
    });
  }
  return events;
}

async function byIndex<Shape extends { readonly idx: number }>(reader: Reader, sql: string) {
  return new Map((await reader.query<Shape>(sql)).map((row) => [row.idx, row]));
}

const TABLES =
  'ledger_entries ledger_nodes presence call_exits task_versions tasks task_labels task_dependencies task_unmet task_counts counters sessions session_events thoughts project_options ledger_keys observations observed_sessions redactions';

/** Rewrites the whole ledger with consistent hashes; only the rules of the format may be violated. */
export async function writeLedger(db: Transaction, events: readonly ForgedEvent[]): Promise<void> {
  await db.run(
    TABLES.split(' ')
      .map((table) => `DELETE FROM ${table};`)
      .join(''),
  );
  const written = complete(events);
  let tail = '';
  for (const { index, entry, fields, salt, content, leaf } of written) {
    tail = nextTail(tail, leaf, index + 1);
    const kept = fields['kind'] === 'action.enter' ? [salt, content] : [null, null];
    db.send('INSERT INTO ledger_entries (idx, entry, salt, content) VALUES ($1, $2, $3, $4)', [
      index,
      canonicalize(entry),
      ...kept,
    ]);
    await storeFinishedSubtrees(db, index + 1);
  }
  await db.query('UPDATE ledger_head SET size = $1, tail = $2 WHERE id = 1', [written.length, tail]);
  await writeProjections(db, written);
}

/** Digests, links and roots of what the events say now. */
function complete(events: readonly ForgedEvent[]): WrittenEvent[] {
  const written: WrittenEvent[] = [];
  const chains = new Map<unknown, { chain_position: unknown; hash: string }>();
  for (const [index, event] of events.entries()) {
    const { fields } = event;
    const previousHash = chains.get(fields['task_id'])?.hash ?? null;
    const filled: Loose = { ...fields, ...digestsOf(event, events, previousHash), ...sealOf(event, written) };
    const entry = event.patch?.(filled) ?? filled;
    if (event.thought !== undefined)
      chains.set(fields['task_id'], { chain_position: fields['chain_position'], hash: filled['hash'] as string });
    written.push({ ...event, index, entry, leaf: leafHash(canonicalize(entry)), previousHash });
  }
  return written;
}

function digestsOf(event: ForgedEvent, events: readonly ForgedEvent[], previous_hash: string | null): Loose {
  const { fields, salt, content, session, thought, enter } = event;
  if (enter !== undefined) return { sequence_no: events.indexOf(enter) };
  if (session !== undefined) return { session: saltedDigest('session', salt, canonicalize({ ...session })) };
  if (thought !== undefined) {
    const recorded = { recorded_at: fields['at'] as string, recorded_by: fields['actor'] as string };
    const hash = thoughtHash({ task_id: fields['task_id'] as string, ...thought, previous_hash, ...recorded });
    return { hash, extras: saltedDigest('extras', salt, content) };
  }
  if (fields['kind'] === 'action.enter') return { arguments: saltedDigest('arguments', salt, content) };
  if (fields['kind'] === 'project.options') return { options: saltedDigest('options', salt, content) };
  if (fields['content'] !== undefined) return { content: saltedDigest('observed-content', salt, content) };
  if (String(fields['kind']).startsWith('task.')) return { task: saltedDigest('task', salt, content) };
  return {};
}

function sealOf({ fields }: ForgedEvent, written: readonly WrittenEvent[]): Loose {
  if (fields['kind'] !== 'session.finalized') return {};
  const records = written.filter((event) =>
    placesOf(event).some(({ session_id }) => session_id === fields['session_id']),
  );
  const sealed = records.filter(
    ({ entry }) => fields['task_id'] === undefined || entry['task_id'] === fields['task_id'],
  );
  const heads = new Map<unknown, Loose>();
  for (const { entry, thought } of records) {
    const { task_id, chain_position, hash } = entry;
    if (thought !== undefined) heads.set(task_id, { task_id, chain_position, hash });
  }
  const inOrder = [...heads.values()].sort((left, right) =>
    String(left['task_id']) < String(right['task_id']) ? -1 : 1,
  );
  return { root: naiveRoot(sealed.map(({ leaf }) => leaf)), leaf_count: sealed.length, heads: inOrder };
}
