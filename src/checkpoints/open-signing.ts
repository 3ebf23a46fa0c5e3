import type { Config } from '../config.ts';
import type { Database, Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import type { Log } from '../log.ts';
import { readLedgerId } from './ledger-id.ts';
import { findRemembered } from './remembered.ts';
import { assertExtends } from './rollback.ts';
import { CheckpointScheduler } from './scheduler.ts';
import { listFormerLogs, readLocation } from './signed-locations.ts';
import { Signer } from './signer.ts';
import { findSigningKey, listFormerKeys, locateKey, openSigningKey, type SigningKey } from './signing-key.ts';

export interface Signing {
  readonly ledgerId?: string;
  /** Undefined in TEST mode, whose ledgers are thrown away. */
  readonly checkpoints?: CheckpointScheduler;
  /** Why nothing may be appended: the log does not extend the checkpoint that was signed last. */
  readonly rollback?: ColibriError;
}

/** Compares the log with the newest checkpoint that this user has signed, and prepares the next one. */
export async function openSigning(
  database: Database,
  config: Config,
  { actor, log, isReadOnly = false }: { readonly actor: string; readonly log: Log; readonly isReadOnly?: boolean },
): Promise<Signing> {
  if (config.mode === 'TEST') return {};
  const ledgerId = await database.read(readLedgerId);
  const place = await database.read((reader) => readLocation(reader, database.location));
  for (const former of listFormerLogs(place, ledgerId))
    log('warn', 'another log was signed at this location before', { ledger_id: former.ledgerId });
  const remembered = findRemembered(ledgerId);
  const last = remembered?.newest();
  const rollback = last && (await database.read((reader) => findRollback(reader, last)));
  if (rollback !== undefined) return { rollback };
  const now = () => new Date().toISOString();
  const former = () => listFormerKeys(config);
  const toSigner = (key: SigningKey | undefined) =>
    key && new Signer({ database, ledgerId, key, former, remembered, actor, now, isReadOnly });
  const source = {
    hasPlace: locateKey(config) !== undefined,
    find: () => toSigner(findSigningKey(config)),
    open: () => toSigner(openSigningKey(config)),
  };
  return { ledgerId, checkpoints: new CheckpointScheduler(source, log, last) };
}

/** For a process that is no server and signs nothing. */
export async function refuseRollback(database: Database): Promise<void> {
  const last = findRemembered(await database.read(readLedgerId))?.newest();
  if (last !== undefined) await database.read((reader) => assertExtends(reader, last));
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
