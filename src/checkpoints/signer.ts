import type { Database } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import {
  checkpointText,
  formatSignature,
  formatVerifierKey,
  keyId,
  type SignedCheckpoint,
  type VerifierKey,
} from '../integrity/index.ts';
import { readHead } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';
import { addKey, findKey, isReplaced } from './ledger-keys.ts';
import type { RememberedCheckpoints } from './remembered.ts';
import { assertExtends } from './rollback.ts';
import type { SigningKey } from './signing-key.ts';

export interface SignerOptions {
  readonly database: Database;
  readonly origin: string;
  readonly key: SigningKey;
  readonly remembered: RememberedCheckpoints | undefined;
  /** Recorded as the actor of the entry that introduces the key. */
  readonly actor: string;
  readonly now: () => string;
}

/** Signs checkpoints of one log with one key. */
export class Signer {
  readonly #options: SignerOptions;

  constructor(options: SignerOptions) {
    this.#options = options;
  }

  get verifierKey(): string {
    return formatVerifierKey(this.#options.key.verifierKey(this.#options.origin));
  }

  /**
   * Signs the log as it is on disk now, and introduces the key if this is its first signature. Refuses a log that does
   * not extend the last checkpoint that was signed here.
   */
  async sign(): Promise<string> {
    const { database, origin, key, remembered } = this.#options;
    const last = remembered?.newest();
    const head = await database.write({ durable: 'always' }, async (db) => {
      if (last !== undefined) await assertExtends(db, last);
      if (await isReplaced(db, this.verifierKey)) throw retired(this.verifierKey);
      if ((await findKey(db, this.verifierKey)) === undefined) {
        const size = (await addKey(db, this.#introduction())) + 1;
        return { size, root: await new StoredTree(db, size).root() };
      }
      // A transaction that changes nothing would not wait for the commits before it.
      db.send('UPDATE ledger_head SET size = size WHERE id = 1');
      return readHead(db);
    });
    if (last?.size === head.size && isSignedBy(last, key.verifierKey(origin))) return last.text;
    const text = checkpointText({ origin, ...head });
    const note = `${text}\n${formatSignature(key.signNote(origin, text))}`;
    if (remembered !== undefined && remembered.remember(note) !== head.root) throw forked(head.size);
    return note;
  }

  #introduction() {
    const { origin, key, actor, now } = this.#options;
    return { origin, key, actor, at: now() };
  }
}

function isSignedBy({ note }: SignedCheckpoint, key: VerifierKey): boolean {
  return note.signatures.some(({ name, keyId: id }) => name === key.name && id === keyId(key));
}

function retired(key: string): ColibriError {
  const problem = 'another key has taken the place of this one';
  return new ColibriError('ERR_CONFIG_INVALID', problem, { key }, { advice: 'name the new one in COLIBRI_KEY_PATH' });
}

function forked(size: number): ColibriError {
  const problem = `another history was signed at ${size} entries`;
  return new ColibriError('ERR_LOG_ROLLBACK', problem, { size }, { advice: 'run colibri verify' });
}
