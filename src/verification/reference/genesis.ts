import type { Reader } from '../../db/database.ts';
import { type Entry, entryDefect, isIncluded } from '../../integrity/index.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';

interface Continues {
  readonly leaf: string;
  readonly size: number;
  readonly root: string;
}

/** Checks that a log which names an earlier one has the entries of that log: all but the first. */
export class GenesisCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  #continues: Continues | undefined;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  page(entries: readonly LoggedEntry[]): void {
    const first = entries[0];
    if (first?.index === 0 && entryDefect(first.entry) === undefined) this.#continues = continuesOf(first.entry);
  }

  async finish(size: number): Promise<void> {
    const continues = this.#continues;
    if (continues === undefined) return;
    if (continues.size > size) return this.#report('entry 0', 'continues a log that is longer than this one');
    // The old first entry has the place of the new one, so the same hashes prove both.
    const proof = await new StoredTree(this.#reader, continues.size).inclusionProof(0);
    if (!isIncluded({ ...continues, index: 0, proof }))
      this.#report('entry 0', 'continues a log that does not have these entries');
  }
}

function continuesOf(entry: Entry): Continues | undefined {
  return entry['continues'] as Continues | undefined;
}
