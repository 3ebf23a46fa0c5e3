export type Loose = Record<string, unknown>;

/** One event of a ledger with everything that its entry holds a digest of. Digests, roots and links are recomputed. */
export interface ForgedEvent {
  readonly fields: Loose;
  /** The enter event that an exit closes: its index may move. */
  readonly enter?: ForgedEvent;
  salt: string;
  /** The text of `arguments`, `task` or `extras`. */
  content: string;
  readonly session?: { auditor_id: string; reason: string | null };
  readonly thought?: { type: string; content: string };
  /** The last word on the entry, after all digests were filled in. */
  patch?: (entry: Loose) => Loose;
}

/** An event as it is written. */
export interface WrittenEvent extends ForgedEvent {
  readonly index: number;
  readonly entry: Loose;
  readonly leaf: string;
  readonly previousHash: string | null;
}

/** Where an entry stands in sessions. */
export function placesOf({ entry, thought }: WrittenEvent): { session_id: string; session_seq: number }[] {
  const places = thought === undefined ? entry['sessions'] : [entry];
  return Array.isArray(places) ? places : [];
}
