import type { Reader } from '../../db/database.ts';
import type { ThoughtRow } from '../../domains/trail/repository.ts';

export type Link = Pick<ThoughtRow, 'hash' | 'chain_position'>;

const MAX_LINKS = 4096;

/** The last link of the chains that were met most recently; others are asked for again. */
export class Links {
  readonly #reader: Reader;
  readonly #last = new Map<number, Link>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  add(taskNo: number, link: Link): void {
    if (this.#last.size >= MAX_LINKS) this.#last.clear();
    this.#last.set(taskNo, link);
  }

  /** What needs no question to the store. */
  known(taskNo: number, chainPosition: number): Link | undefined {
    const last = this.#last.get(taskNo);
    return last?.chain_position === chainPosition - 1 ? last : undefined;
  }

  async before(taskNo: number, chainPosition: number): Promise<Link | undefined> {
    const known = this.known(taskNo, chainPosition);
    if (known !== undefined) return known;
    const [stored] = await this.#reader.query<Link>(
      'SELECT hash, chain_position FROM thoughts WHERE task_no = $1 AND chain_position = $2',
      [taskNo, chainPosition - 1],
    );
    return stored;
  }
}
