/** What a commit of the log, or a trailer of the repository, says and the other side does not confirm. */
export interface GitClaim {
  /** `missing` and `unreadable` prove nothing; `contradicted` proves that one side was changed. */
  readonly state: 'contradicted' | 'missing' | 'unreadable';
  readonly sha: string;
  /** The entry that records the commit. */
  readonly entry?: number | undefined;
  /** Continues "commit …". */
  readonly problem: string;
}

const MAX_CLAIMS = 1000;

/** The first claims, and how many there were. */
export class ClaimList {
  count = 0;
  readonly #claims: GitClaim[] = [];

  add(claim: GitClaim): void {
    this.count += 1;
    if (this.#claims.length < MAX_CLAIMS) this.#claims.push(claim);
  }

  list(): readonly GitClaim[] {
    return this.#claims;
  }
}
