import type { Reader } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import { type Entry, isSessionId, isTaskId } from '../../integrity/index.ts';
import { type EntryFields, readEntryFields } from './entry-fields.ts';

/** What the log says about agents and days, and which records its newest entries are about. */
export interface LogSummary {
  /** Entries that were read. */
  readonly size: number;
  readonly agents: ReadonlyMap<string, AgentSummary>;
  /** UTC days with the first and the last entry of each; entries of other days may lie between them. */
  readonly days: ReadonlyMap<string, DayRange>;
  /** The sessions that were opened for each task. */
  readonly sessions: ReadonlyMap<number, readonly number[]>;
}

export interface AgentSummary {
  readonly firstSeen: string;
  lastChange: string | undefined;
  changes: number;
  decisions: number;
  /** In the order of the first change or decision. */
  readonly tasks: Set<number>;
  readonly sessions: Set<number>;
  readonly days: Set<string>;
}

export interface DayRange {
  readonly first: number;
  last: number;
}

/** The notes that show the records of some entries. */
export interface Affected {
  readonly tasks: Set<number>;
  readonly sessions: Set<number>;
  readonly agents: Set<string>;
  readonly days: Set<string>;
  /** A recorded commit is evidence about every decision that names a commit. */
  commits: boolean;
  /** A redaction is rare, and several notes of any age may show the text that it removed. */
  redactions: boolean;
}

export function nothingAffected(): Affected {
  return {
    tasks: new Set(),
    sessions: new Set(),
    agents: new Set(),
    days: new Set(),
    commits: false,
    redactions: false,
  };
}

const PAGE = 2000;

/** Reads each entry once; in a long-running export only the new ones. */
export class LogReader implements LogSummary {
  #size = 0;
  readonly agents = new Map<string, AgentSummary>();
  readonly days = new Map<string, DayRange>();
  readonly sessions = new Map<number, number[]>();

  get size(): number {
    return this.#size;
  }

  /** Reads up to this size, and adds what the entries from `base` on are about to `affected`. */
  async advance(db: Reader, size: number, base: number, affected: Affected): Promise<void> {
    while (this.#size < size) {
      const rows = await db.query<{ idx: number; entry: string }>(
        'SELECT idx, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx LIMIT $3',
        [this.#size, size, PAGE],
      );
      for (const { idx, entry: text } of rows) {
        const entry = readEntryFields(text);
        if (entry !== undefined) this.#add(idx, entry, idx >= base ? affected : nothingAffected());
      }
      this.#size = rows.length < PAGE ? size : (rows.at(-1)?.idx ?? size) + 1;
    }
  }

  #add(idx: number, entry: EntryFields, affected: Affected): void {
    const { kind, at, actor } = entry;
    if (kind === 'action.enter') {
      if (!this.agents.has(actor)) affected.agents.add(actor);
      this.#agent(actor, at);
      return;
    }
    if (kind === 'redaction') affected.redactions = true;
    if (!SHOWN.has(kind)) return;
    const [task, session] = [numberOf(entry['task_id'], isTaskId), numberOf(entry['session_id'], isSessionId)];
    if (task !== undefined) affected.tasks.add(task);
    if (kind === 'observed.commit') affected.commits = true;
    if (kind === 'session.started' && task !== undefined && session !== undefined)
      this.sessions.set(task, [...(this.sessions.get(task) ?? []), session]);
    for (const no of [session, ...membershipsOf(entry)]) if (no !== undefined) affected.sessions.add(no);
    const day = at.slice(0, 'YYYY-MM-DD'.length);
    if (/^\d{4}-\d{2}-\d{2}$/.test(day)) this.#addDay(day, idx, affected);
    if (!kind.startsWith('observed')) this.#addChange(entry, { task, session, day }, affected);
  }

  #addDay(day: string, idx: number, affected: Affected): void {
    const range = this.days.get(day);
    if (range === undefined) this.days.set(day, { first: idx, last: idx });
    else range.last = idx;
    affected.days.add(day);
  }

  #addChange(
    { kind, at, actor }: EntryFields,
    {
      task,
      session,
      day,
    }: { readonly task: number | undefined; readonly session: number | undefined; readonly day: string },
    affected: Affected,
  ): void {
    const agent = this.#agent(actor, at);
    agent.lastChange = at;
    agent.days.add(day);
    if (kind === 'thought') agent.decisions += 1;
    if (kind.startsWith('task.')) agent.changes += 1;
    if (kind.startsWith('session.') && session !== undefined) agent.sessions.add(session);
    else if (task !== undefined) agent.tasks.add(task);
    affected.agents.add(actor);
  }

  #agent(name: string, at: string): AgentSummary {
    const known = this.agents.get(name);
    if (known !== undefined) return known;
    const agent: AgentSummary = {
      firstSeen: at,
      lastChange: undefined,
      changes: 0,
      decisions: 0,
      tasks: new Set(),
      sessions: new Set(),
      days: new Set(),
    };
    this.agents.set(name, agent);
    return agent;
  }
}

const SHOWN: ReadonlySet<Entry['kind']> = new Set<Entry['kind']>([
  'task.created',
  'task.updated',
  'session.started',
  'session.finalized',
  'thought',
  'observed',
  'observed.commit',
]);

function numberOf(id: unknown, isId: (id: string) => boolean): number | undefined {
  return typeof id === 'string' && isId(id) ? parseId(id) : undefined;
}

/** The sessions that a change of a task belongs to. */
function membershipsOf(entry: EntryFields): (number | undefined)[] {
  const { sessions } = entry;
  if (!Array.isArray(sessions)) return [];
  return sessions.map((session: unknown) =>
    numberOf((session as { session_id?: unknown } | null)?.session_id, isSessionId),
  );
}
