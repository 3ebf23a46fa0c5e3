import type { Evidence } from '../../integrity/evidence/compare.ts';
import type { RecordedCall } from '../../ledger/calls/scan.ts';
import type { ShownThought } from '../views/show-data.ts';

/** One line of `colibri timeline --json`: something that happened to a task. */
export type TimelineEvent = CallEvent | DecisionEvent | ObservedEvent | CommitEvent | UsageEvent | UnreadableEvent;

interface Happened {
  /** The index in the log. */
  readonly entry: number;
  readonly at: string;
  readonly actor: string;
}

/** A call of one of Colibri's tools: what an agent asked for. */
export interface CallEvent
  extends Happened,
    Pick<RecordedCall, 'tool' | 'outcome' | 'exited_at' | 'duration_ms' | 'arguments'> {
  readonly kind: 'call';
}

export interface DecisionEvent extends Happened, Omit<ShownThought, 'recorded_at' | 'recorded_by'> {
  readonly kind: 'decision';
  /** What was observed of its tests and its commit; empty if it names none. */
  readonly evidence: readonly Omit<Evidence, 'thought_id'>[];
}

/** What a client reported. Fields that the client did not report are missing. */
export interface ObservedEvent extends Happened {
  readonly kind: 'observed';
  readonly client: string;
  readonly client_version?: string;
  readonly session: string;
  readonly agent?: string;
  readonly model?: string;
  readonly event: string;
  readonly phase: string;
  readonly tool?: string;
  readonly action?: string;
  readonly call_id?: string;
  readonly outcome?: string;
  readonly exit_code?: number;
  readonly duration_ms?: number;
  /** Set for what the session did after review, when it held no task. */
  readonly after_review?: true;
  readonly content: Readable;
}

/** The readable part of an observation, as far as the record level keeps it. */
export interface Readable {
  readonly command?: string;
  readonly path?: string;
  readonly input?: string;
  readonly output?: string;
  readonly defect?: string;
  readonly cut?: true;
}

export interface CommitEvent extends Happened {
  readonly kind: 'commit';
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly rewrites?: string;
  readonly branch?: string;
  readonly paths: readonly string[];
  readonly cut?: true;
}

/** The tokens that a session used for the task since the report before it, as its client counts them. */
export interface UsageEvent extends Happened {
  readonly kind: 'usage';
  readonly client: string;
  readonly session: string;
  readonly agent?: string;
  readonly model: string;
  readonly responses: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly cache_write_1h_tokens: number;
}

/** A row that its entry does not explain, which only tampering causes. */
export interface UnreadableEvent extends Happened {
  readonly kind: 'unreadable';
}

export interface TaskTitle {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
}

/** The last line of `colibri timeline --json`. */
export interface TimelineTotals extends TaskTitle {
  readonly kind: 'totals';
  readonly calls: number;
  readonly decisions: number;
  readonly observed: number;
  readonly commits: number;
  readonly usage: number;
  readonly unreadable: number;
  /** How many of them were printed. */
  readonly shown: number;
}
