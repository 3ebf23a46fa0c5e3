import { DatabaseError, type Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import { type Checkpoint, TreeBuilder } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { readStored, StoredTree } from '../ledger/stored-tree.ts';

/** What a person can do about a log that does not extend what was signed. */
export const ROLLBACK_ADVICE = 'restore the newest backup, or run colibri continue to start a new log from here';

/**
 * Refuses a log that does not extend a checkpoint that was signed before: a restored backup, a cut or rewritten log.
 * Reads stored nodes, at any size of the log a few rows: an entry that was rewritten below its node is found by
 * verification.
 */
export async function assertExtends(reader: Reader, { size, root }: Checkpoint): Promise<void> {
  const present = await assertNotCut(reader, size);
  if ((await new StoredTree(reader, size).root()) !== root)
    throw rollback(
      `has a different root at ${size} entries than the signed checkpoint`,
      [present, size],
      ROLLBACK_ADVICE,
    );
}

/** Entries that are read at once. */
const PAGE = 2000;

/** The same from the entries themselves: reads every one of them that the checkpoint covers. */
export async function assertEntriesExtend(
  reader: Reader,
  { size, root }: Checkpoint,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const present = await assertNotCut(reader, size);
  const tree = new TreeBuilder();
  for (let begin = 0; begin < size; begin += PAGE) {
    const end = Math.min(begin + PAGE, size);
    const leaves = await readStored(reader, 0, begin, end);
    if (leaves.length !== end - begin)
      throw new DatabaseError('corrupt', `the log misses entries from ${begin} to ${end}`, {
        advice: 'run colibri verify',
      });
    for (const leaf of leaves) tree.add(leaf);
    progress(end, size);
  }
  if (tree.root() !== root)
    throw rollback(
      `has other entries before ${size} than the signed checkpoint`,
      [present, size],
      'run colibri verify to see what was changed',
    );
}

async function assertNotCut(reader: Reader, size: number): Promise<number> {
  const present = await readSize(reader);
  if (size <= present) return present;
  throw rollback(`has ${present} entries, but a checkpoint over ${size} was signed`, [present, size], ROLLBACK_ADVICE);
}

type Sizes = readonly [present: number, signed: number];

function rollback(problem: string, [size, signed_size]: Sizes, advice: string): ColibriError {
  return new ColibriError('ERR_LOG_ROLLBACK', `the log ${problem}`, { size, signed_size }, { advice });
}
