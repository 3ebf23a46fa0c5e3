/** What a commit of the log, or a trailer of the repository, says and the other side does not confirm. */
export interface GitFinding {
  /** `missing` and `unreadable` prove nothing; `contradicted` proves that one side was changed. */
  readonly state: 'contradicted' | 'missing' | 'unreadable';
  readonly sha: string;
  /** The entry that records the commit. */
  readonly entry?: number | undefined;
  /** Continues "commit …". */
  readonly problem: string;
}

const MAX_FINDINGS = 1000;

/** The first findings, and how many there were. */
export class FindingList {
  count = 0;
  readonly #findings: GitFinding[] = [];

  add(finding: GitFinding): void {
    this.count += 1;
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
  }

  list(): readonly GitFinding[] {
    return this.#findings;
  }
}
