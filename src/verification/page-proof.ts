import type { ThoughtFacts } from './replay/session-replay.ts';

/** What the fast path has proven about one page. Everything else is left to the reference. */
export interface PageProof {
  /** 1 for each entry of the page that is proven to say exactly what the tables say. */
  readonly isProven: Uint8Array;
  /** All calls of the page, or undefined if one of them is not proven. */
  readonly calls: ProvenCalls | undefined;
  /** All thoughts of the page in log order, or undefined if one of them is not proven. */
  readonly thoughts: readonly ThoughtFacts[] | undefined;
}

export const NOTHING_PROVEN: PageProof = { isProven: new Uint8Array(), calls: undefined, thoughts: undefined };

export interface CallRow {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly entered_at: string;
  readonly arguments: string;
  readonly salt: string;
  readonly exit_idx: number | null;
  readonly exited_at: string | null;
  readonly outcome: string | null;
  readonly duration_ms: number | null;
}

/** What has to be known about a call until its exit. */
export type OpenCall = Pick<CallRow, 'sequence_no' | 'actor' | 'exit_idx' | 'exited_at' | 'outcome' | 'duration_ms'>;

export interface ProvenCalls {
  /** Of the enter and exit entries. */
  readonly indexes: readonly number[];
  /** The number of enter entries in this page. */
  readonly count: number;
  /** Calls that were entered in this page and exit in a later one. */
  readonly entered: readonly OpenCall[];
  /** Calls of earlier pages that exit in this one. */
  readonly left: readonly number[];
}
