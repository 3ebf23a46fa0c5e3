import type { Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import type { Checkpoint } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';

/** Refuses a log that does not extend a checkpoint that was signed before: a restored backup, a cut or rewritten log. */
export async function assertExtends(reader: Reader, { size, root }: Checkpoint): Promise<void> {
  const present = await readSize(reader);
  const problem =
    size > present
      ? `has ${present} entries, but a checkpoint over ${size} was signed`
      : `has a different root at ${size} entries than the signed checkpoint`;
  if (size > present || (await new StoredTree(reader, size).root()) !== root)
    throw new ColibriError(
      'ERR_LOG_ROLLBACK',
      `the log ${problem}`,
      { size: present, signed_size: size },
      { advice: 'restore the newest backup, or run colibri continue to start a new log from here' },
    );
}
