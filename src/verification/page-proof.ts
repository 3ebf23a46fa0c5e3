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

/** What has to be known about a call until its exit. */
export interface OpenCall {
  readonly actor: string;
  /** Null if call_exits has no row for the call. */
  readonly exit_idx: number | null;
}

export interface ProvenCalls {
  /** Indexes of the enter and exit entries. */
  readonly indexes: readonly number[];
  /** The number of rows in call_exits for the calls that were entered in this page. */
  readonly exits: number;
  /** Calls that were entered in this page and exit in a later one. */
  readonly entered: ReadonlyMap<number, OpenCall>;
  /** The last call of each actor in this page. */
  readonly lastCalls: ReadonlyMap<string, number>;
  /** Calls of earlier pages that exit in this one. */
  readonly left: readonly number[];
}

/** The numbers in a thought's entry. */
export interface ThoughtFacts {
  readonly index: number;
  readonly thoughtNo: number;
  readonly taskNo: number;
  readonly position: number;
  readonly attempt: number;
  readonly sessionNo: number;
  readonly sessionSeq: number;
}
