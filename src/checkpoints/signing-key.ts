import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type Config, findConfigFolder, locateDatabase } from '../config.ts';
import { isOwnedByOther } from '../db/file-owner.ts';
import { ColibriError } from '../errors.ts';
import { encodeBase64, keyId, type VerifierKey } from '../integrity/index.ts';
import { createPrivateFile } from '../trust/private-file.ts';

/** How the name of a key file ends that a rotation has replaced. */
export const FORMER = '.replaced';

/** A private Ed25519 key. It never leaves this object and its file. */
export class SigningKey {
  readonly path: string;
  readonly #key: KeyObject;
  readonly #publicKey: Uint8Array;

  constructor(path: string, pem: string) {
    this.path = path;
    this.#key = parsePem(path, pem);
    this.#publicKey = createPublicKey(this.#key).export({ format: 'der', type: 'spki' }).subarray(-32);
  }

  /** The public half under the name of a log. */
  verifierKey(origin: string): VerifierKey {
    return { name: origin, type: 'note', publicKey: this.#publicKey };
  }

  /** The signature of a note by this key, without the line around it. */
  signNote(origin: string, text: string): { name: string; keyId: string; bytes: Uint8Array } {
    return { name: origin, keyId: keyId(this.verifierKey(origin)), bytes: this.signBytes(Buffer.from(text, 'utf8')) };
  }

  signText(text: string): string {
    return encodeBase64(this.signBytes(Buffer.from(text, 'utf8')));
  }

  /**
   * The first byte tells what was signed: notes and statements about keys begin with "c", receipts with 0x84, DSSE with
   * "D".
   */
  signBytes(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#key);
  }
}

/** Where the user's key is; undefined for a user without a home folder and without COLIBRI_KEY_PATH. */
export function locateKey({ keyPath }: Pick<Config, 'keyPath'>): string | undefined {
  if (keyPath === 'none') return undefined;
  if (keyPath !== undefined) return keyPath;
  const folder = findConfigFolder();
  return folder === undefined ? undefined : join(folder, 'colibri', 'signing-key.pem');
}

/** Reads the key, or creates it. Undefined if the user has none and wants none. */
export function openSigningKey(config: Config): SigningKey | undefined {
  const path = locateKey(config);
  return path === undefined ? undefined : (findSigningKey(config) ?? createKey(path));
}

/** Reads the key; undefined if there is none yet. */
export function findSigningKey(config: Config): SigningKey | undefined {
  const path = locateKey(config);
  if (path === undefined) return undefined;
  assertOutside(path, config);
  return readKey(path);
}

/** The keys that rotations have replaced, for ledgers that still know only them. */
export function listFormerKeys(config: Config): SigningKey[] {
  const path = locateKey(config);
  if (path === undefined) return [];
  const names = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(`${basename(path)}.`) && name.endsWith(FORMER),
  );
  return names.map((name) => readKey(join(dirname(path), name))).filter((key) => key !== undefined);
}

/** Returns true if there was no key at this path. */
export function createKeyFile(path: string): boolean {
  const { privateKey } = generateKeyPairSync('ed25519');
  return createPrivateFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
}

function createKey(path: string): SigningKey {
  createKeyFile(path);
  const key = readKey(path);
  if (key === undefined) throw refuse(path, 'vanished after it was created', 'try again');
  return key;
}

function readKey(path: string): SigningKey | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw refuse(path, 'is not a file', 'name the file itself in COLIBRI_KEY_PATH');
  if (isOwnedByOther(stats)) throw refuse(path, 'belongs to another user', 'use a key of your own');
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw refuse(
      path,
      'can be read by other users',
      'run chmod 600 on it, and colibri key rotate if another user may have read it',
    );
  return new SigningKey(path, readFileSync(path, 'utf8'));
}

/** A key beside the ledger would go wherever a copy of the folder goes. */
function assertOutside(path: string, config: Config): void {
  if (config.databaseUrl !== undefined) return;
  const between = relative(realFolder(dirname(locateDatabase(config))), join(realFolder(dirname(path)), 'key'));
  const isOutside = between === '..' || between.startsWith(`..${sep}`) || isAbsolute(between);
  if (!isOutside) throw refuse(path, 'is in the folder of the ledger', 'name a file elsewhere in COLIBRI_KEY_PATH');
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function parsePem(path: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The message of the library may quote the file.
  }
  throw refuse(
    path,
    'does not hold an Ed25519 private key in PEM form',
    'restore it, or move it away to get a new one',
  );
}

function refuse(path: string, problem: string, advice: string): ColibriError {
  return new ColibriError('ERR_CONFIG_INVALID', `the signing key ${path} ${problem}`, { path }, { advice });
}
