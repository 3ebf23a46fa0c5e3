import type { Digest } from '../integrity/index.ts';

/** One place where the ledger differs from the log, named so that a person can look at it. */
export interface Problem {
  readonly place: string;
  readonly problem: string;
}

export type Report = (place: string, problem: string) => void;

export interface LedgerReport {
  readonly size: number;
  readonly root: Digest;
  /** In log order, the same on any number of cores. */
  readonly problems: readonly Problem[];
  /** The entries whose content people have removed, in the order of the removals. */
  readonly redacted: readonly RedactedEntry[];
  /** How much the fast path proved; the reference checked the rest. */
  readonly fast: FastPathUse;
}

export interface RedactedEntry {
  readonly entry: number;
  readonly by: string;
  readonly at: string;
  /** Index of the redaction entry. */
  readonly redaction: number;
}

export interface FastPathUse {
  /** Pages whose rows were read as one value. */
  readonly pages: number;
  /** Entries that were proven to say exactly what the tables say. */
  readonly entries: number;
}
