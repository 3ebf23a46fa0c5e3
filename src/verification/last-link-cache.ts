import type { Reader } from '../db/database.ts';
import type { ThoughtRow } from '../domains/trail/repository.ts';

export type Link = Pick<ThoughtRow, 'hash' | 'chain_position'>;

const MAX_CHAINS = 4096;

/** The last link of the most recent chains; any other link is queried again. */
export class LastLinkCache {
  readonly #reader: Reader;
  readonly #last = new Map<number, Link>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  add(taskNo: number, link: Link): void {
    if (this.#last.size >= MAX_CHAINS) this.#last.clear();
    this.#last.set(taskNo, link);
  }

  /** The link before a position if it is cached. */
  find(taskNo: number, chainPosition: number): Link | undefined {
    const last = this.#last.get(taskNo);
    return last?.chain_position === chainPosition - 1 ? last : undefined;
  }

  /** The link before a position, from the cache or the database. */
  async read(taskNo: number, chainPosition: number): Promise<Link | undefined> {
    const cached = this.find(taskNo, chainPosition);
    if (cached !== undefined) return cached;
    const [stored] = await this.#reader.query<Link>(
      'SELECT hash, chain_position FROM thoughts WHERE task_no = $1 AND chain_position = $2',
      [taskNo, chainPosition - 1],
    );
    return stored;
  }
}
