import { type Database, DatabaseError, type Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import {
  BadFormat,
  type Checkpoint,
  checkpointText,
  formatDsse,
  formatReceipt,
  formatSignature,
  formatVerifierKey,
  type InclusionProof,
  isIncluded,
  keyId,
  leafHash,
  originOf,
  type SignedCheckpoint,
  type VerifierKey,
  verifyCheckpoint,
} from '../integrity/index.ts';
import { readHead } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';
import { readLedgerId } from './ledger-id.ts';
import { addKey, findKey, isReplaced, type KeyIntroduction } from './ledger-keys.ts';
import type { RememberedCheckpoints } from './remembered.ts';
import { assertExtends } from './rollback.ts';
import { readLocation, rememberLocation } from './signed-locations.ts';
import type { SigningKey } from './signing-key.ts';

export interface SignerOptions {
  readonly database: Database;
  readonly ledgerId: string;
  readonly key: SigningKey;
  /** Keys of this user that a rotation has replaced, perhaps in another ledger. */
  readonly former: () => readonly SigningKey[];
  readonly remembered: RememberedCheckpoints | undefined;
  /** Recorded as the actor of the entry that introduces the key. */
  readonly actor: string;
  readonly now: () => string;
  /** The ledger is only read: the key must be known in it, and what is signed is not remembered. */
  readonly isReadOnly?: boolean;
}

/** The log knows a newer key of this user. */
export class RetiredKey extends ColibriError {
  constructor(key: string) {
    const advice = 'run colibri key rotate to finish an interrupted rotation';
    super('ERR_CONFIG_INVALID', 'another key has replaced this one', { key }, { advice });
  }
}

type Remembered = ReturnType<RememberedCheckpoints['newest']>;

/** COSE receipts and DSSE envelopes. */
export type EnvelopeFormat = 'cose' | 'dsse';

/** Signs checkpoints of one log with one key. */
export class Signer {
  readonly #options: SignerOptions;

  constructor(options: SignerOptions) {
    this.#options = options;
  }

  get verifierKey(): string {
    return formatVerifierKey(this.#options.key.verifierKey(originOf(this.#options.ledgerId)));
  }

  /**
   * Signs the log as it is on disk now, and introduces the key if this is its first signature. Refuses a log that does
   * not extend the last checkpoint that was signed here.
   */
  async sign(): Promise<string> {
    const { database, ledgerId, key, remembered, isReadOnly = false } = this.#options;
    const origin = originOf(ledgerId);
    const last = remembered?.newest();
    if (isReadOnly) return this.#signUnwritten(last);
    const head = await database.write({ durable: 'always' }, async (db) => {
      await this.#assertSignable(db, last);
      if ((await findKey(db, this.verifierKey)) === undefined) {
        const size = (await addKey(db, await this.#introduction(db))) + 1;
        return { size, root: await new StoredTree(db, size).root() };
      }
      // A transaction that changes nothing would not wait for the commits before it.
      db.send('UPDATE ledger_head SET size = size WHERE id = 1');
      return readHead(db);
    });
    if (last?.size === head.size && isSignedBy(last, key.verifierKey(origin))) return last.text;
    const note = this.#note(head);
    if (remembered !== undefined && remembered.remember(note) !== head.root) throw forked(head.size);
    rememberLocation(await database.read((reader) => readLocation(reader, database.location)), ledgerId);
    return note;
  }

  /** The newest commits may not be on disk, so that the checkpoint is not one that a later log must extend. */
  async #signUnwritten(last: Remembered): Promise<string> {
    return this.#options.database.read(async (db) => {
      await this.#assertSignable(db, last);
      if ((await findKey(db, this.verifierKey)) === undefined) throw unknownKey();
      return this.#note(await readHead(db));
    });
  }

  async #assertSignable(db: Reader, last: Remembered): Promise<void> {
    if ((await readLedgerId(db)) !== this.#options.ledgerId) throw continued();
    if (last !== undefined) await assertExtends(db, last);
    if (await isReplaced(db, this.verifierKey)) throw new RetiredKey(this.verifierKey);
  }

  #note(head: Pick<Checkpoint, 'size' | 'root'>): string {
    const { key, ledgerId } = this.#options;
    const origin = originOf(ledgerId);
    const text = checkpointText({ origin, ...head });
    return `${text}\n${formatSignature(key.signNote(origin, text))}`;
  }

  /**
   * Wraps a proof into an envelope that this key signs. The checkpoint of the proof must be signed by it and must hold
   * the entry, so that no envelope says more than a checkpoint that was signed before.
   */
  wrap(format: EnvelopeFormat, proof: InclusionProof): Uint8Array {
    const { key, ledgerId } = this.#options;
    const verifierKey = key.verifierKey(originOf(ledgerId));
    const { size, root } = assertSigned(proof.checkpoint, verifierKey);
    const { index, entry } = proof.entry;
    if (!isIncluded({ leaf: leafHash(entry), index, size, proof: proof.path, root }))
      throw new DatabaseError('corrupt', `entry ${index} is not the one that was signed`, {
        advice: 'run colibri verify',
      });
    const sign = (message: Uint8Array) => key.signBytes(message);
    if (format === 'cose') return formatReceipt(proof, verifierKey, sign);
    return Buffer.from(formatDsse(proof, verifierKey, sign), 'utf8');
  }

  /** A key that was rotated in another ledger replaces the old one here too. */
  async #introduction(db: Reader): Promise<KeyIntroduction> {
    const { ledgerId, key, former, actor, now } = this.#options;
    const origin = originOf(ledgerId);
    for (const old of former()) {
      const text = formatVerifierKey(old.verifierKey(origin));
      if ((await findKey(db, text)) !== undefined && !(await isReplaced(db, text)))
        return { origin, key, replaces: old, actor, at: now() };
    }
    return { origin, key, actor, at: now() };
  }
}

function isSignedBy({ note }: SignedCheckpoint, key: VerifierKey): boolean {
  return note.signatures.some(({ name, keyId: id }) => name === key.name && id === keyId(key));
}

function assertSigned(checkpoint: string, key: VerifierKey): Checkpoint {
  try {
    return verifyCheckpoint(checkpoint, { log: [key] });
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    const advice = 'prove it under a new checkpoint, or as a tlog-proof, which needs no second signature';
    throw new ColibriError('ERR_CONFIG_INVALID', 'your key has not signed this checkpoint', {}, { advice });
  }
}

function unknownKey(): ColibriError {
  const problem = 'your key is not known in this ledger, and you may only read it';
  const advice = 'let a user who may write it run the command, or pass --at with a checkpoint';
  return new ColibriError('ERR_CONFIG_INVALID', problem, {}, { advice });
}

function continued(): ColibriError {
  const problem = 'another process continued this log as a new log after this server started';
  return new ColibriError('ERR_LOG_ROLLBACK', problem, {}, { advice: 'restart the server' });
}

function forked(size: number): ColibriError {
  const problem = `another history was signed at ${size} entries`;
  return new ColibriError('ERR_LOG_ROLLBACK', problem, { size }, { advice: 'run colibri verify' });
}
