import type { Reader } from '../../src/db/database.ts';
import { taskFields } from '../../src/domains/tasks/record.ts';
import { listVersions } from '../../src/domains/tasks/versions.ts';
import { formatSessionId } from '../../src/ids.ts';
import { leafHash } from '../../src/integrity/index.ts';

/** What the ledger says after the last process has ended. */
export interface Found {
  /** How often each marker was stored. */
  readonly stored: ReadonlyMap<string, number>;
  /** Status that a task update stored with each marker. */
  readonly statuses: ReadonlyMap<string, string>;
  readonly seals: ReadonlyMap<string, number>;
  /** The calls whose arguments contain a marker. */
  readonly calls: ReadonlyMap<string, readonly Call[]>;
  /** How often each actor called each tool. */
  readonly totals: ReadonlyMap<string, number>;
  readonly leaves: ReadonlyMap<number, string>;
  readonly open: number;
}

export interface Call {
  readonly tool: string;
  readonly actor: string;
  readonly arguments: string | null;
  readonly exit_idx: number | null;
  readonly outcome: string | null;
}

const MARKER = /(?:agent|person|client)-\d+:\d+:\d+;/;

export async function readFound(db: Reader): Promise<Found> {
  const { stored, statuses } = await readMarkers(db);
  const calls = await db.query<Call>('SELECT tool, actor, arguments, exit_idx, outcome FROM calls');
  const entries = await db.query<{ idx: number; entry: string }>('SELECT idx, entry FROM ledger_entries');
  const sessions = await db.query<{ session_no: number; finalized_idx: number | null }>(
    'SELECT session_no, finalized_idx FROM sessions',
  );
  const seals = entries.filter(({ entry }) => entry.includes('"kind":"session.finalized"')).length;
  const sealed = sessions.filter(({ finalized_idx }) => finalized_idx !== null);
  if (seals !== sealed.length) throw new Error(`${seals} seals in the log, and ${sealed.length} sealed sessions`);
  return {
    stored,
    statuses,
    seals: new Map(sealed.map(({ session_no }) => [formatSessionId(session_no), 1])),
    calls: groupBy(calls, (call) => MARKER.exec(call.arguments ?? '')?.[0]),
    totals: countBy(calls, ({ actor, tool }) => `${actor} ${tool}`),
    leaves: new Map(entries.map(({ idx, entry }) => [idx, leafHash(entry)])),
    open: calls.filter(({ exit_idx }) => exit_idx === null).length,
  };
}

async function readMarkers(db: Reader): Promise<Pick<Found, 'stored' | 'statuses'>> {
  const texts = [
    ...(await db.query<{ text: string }>('SELECT title AS text FROM tasks')),
    ...(await db.query<{ text: string }>('SELECT content AS text FROM thoughts')),
    ...(await db.query<{ text: string }>('SELECT auditor_id AS text FROM sessions')),
    ...(await db.query<{ text: string }>('SELECT content AS text FROM observations')),
  ];
  const markers = texts.map(({ text }) => MARKER.exec(text)?.[0]);
  const statuses = new Map<string, string>();
  for (const { description, status } of await listDescribed(db)) {
    markers.push(description);
    statuses.set(description, status);
  }
  return { stored: countBy(markers, (marker) => marker), statuses };
}

/** The versions of tasks that have another description than the version before. */
async function listDescribed(db: Reader): Promise<{ description: string; status: string }[]> {
  const described: { description: string; status: string }[] = [];
  for (const { task_no } of await db.query<{ task_no: number }>('SELECT task_no FROM tasks')) {
    let before: string | null = null;
    for (const { content, idx } of await listVersions(db, task_no)) {
      if (content === null) throw new Error(`the version ${idx} of a task is unreadable`);
      const { description, status } = taskFields.fromContent(content);
      if (description !== null && description !== before) described.push({ description, status });
      before = description;
    }
  }
  return described;
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Map<string, number> {
  return new Map([...groupBy(items, keyOf)].map(([key, group]) => [key, group.length]));
}
