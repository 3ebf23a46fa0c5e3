import type { Config } from '../config.ts';
import type { Database, Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import { originOf, parseEntry } from '../integrity/index.ts';
import type { Log } from '../log.ts';
import { CheckpointKeeper } from './keeper.ts';
import { findRemembered } from './remembered.ts';
import { assertExtends } from './rollback.ts';
import { Signer } from './signer.ts';
import { openSigningKey } from './signing-key.ts';

export interface Signing {
  /** Undefined in TEST mode, whose ledgers are thrown away. */
  readonly checkpoints?: CheckpointKeeper;
  /** Why nothing may be appended: the log does not extend the checkpoint that was signed last. */
  readonly rollback?: ColibriError;
}

/** Compares the log with the newest checkpoint that this user has signed, and prepares the next one. */
export async function openSigning(
  database: Database,
  config: Config,
  { actor, log }: { readonly actor: string; readonly log: Log },
): Promise<Signing> {
  if (config.mode === 'TEST') return {};
  const ledgerId = await database.read(readLedgerId);
  const remembered = findRemembered(ledgerId);
  const last = remembered?.newest();
  if (last !== undefined) {
    const rollback = await database.read((reader) => findRollback(reader, last));
    if (rollback !== undefined) return { rollback };
  }
  const openSigner = () => {
    const key = openSigningKey(config);
    const now = () => new Date().toISOString();
    return key && new Signer({ database, origin: originOf(ledgerId), key, remembered, actor, now });
  };
  return { checkpoints: new CheckpointKeeper(openSigner, log, last) };
}

/** The id in the first entry, which names the log in its checkpoints. */
export async function readLedgerId(reader: Reader): Promise<string> {
  const [first] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  return (first && parseEntry(first.entry)?.['ledger_id']) as string;
}

async function findRollback(
  reader: Reader,
  last: Parameters<typeof assertExtends>[1],
): Promise<ColibriError | undefined> {
  try {
    await assertExtends(reader, last);
    return undefined;
  } catch (error) {
    if (error instanceof ColibriError) return error;
    throw error;
  }
}
