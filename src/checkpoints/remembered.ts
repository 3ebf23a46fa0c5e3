import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import { ColibriError } from '../errors.ts';
import { BadFormat, type Digest, parseCheckpoint, type SignedCheckpoint } from '../integrity/index.ts';
import { createPrivateFile, isPrivate } from '../trust/private-file.ts';

const MAX_TRIES = 100;

/**
 * The newest checkpoint of each log that this user has signed, outside the ledger's folder: what a restored backup or
 * a cut log cannot take back. One file for each size, created and never changed, so that two processes cannot lose each
 * other's and one size cannot have two roots.
 */
export class RememberedCheckpoints {
  readonly #folder: string;

  constructor(ledgerId: string, configFolder: string) {
    this.#folder = join(configFolder, 'colibri', 'checkpoints', ledgerId);
  }

  /** Undefined if none was signed here. Throws if another user could have changed it, or if it is not a checkpoint. */
  newest(): (SignedCheckpoint & { readonly text: string }) | undefined {
    for (let tries = 0; ; tries += 1) {
      const [name] = this.#names();
      if (name === undefined) return undefined;
      const text = this.#read(name);
      if (text !== undefined) return { ...parse(join(this.#folder, name), text), text };
      // A process that signed a larger log has removed it; the next look finds that one.
      if (tries === MAX_TRIES) throw unusable(this.#folder, 'changes all the time', 'try again');
    }
  }

  /** Returns the root that is remembered for this size: another one if a process has signed another history. */
  remember(text: string): Digest {
    const { size, root } = parseCheckpoint(text);
    const name = nameOf(size);
    const isNew = createPrivateFile(join(this.#folder, name), text);
    for (const older of this.#names()) if (older < name) rmSync(join(this.#folder, older), { force: true });
    const kept = isNew ? undefined : this.#read(name);
    return kept === undefined ? root : parse(join(this.#folder, name), kept).root;
  }

  /** Undefined if the file is gone. */
  #read(name: string): string | undefined {
    const file = join(this.#folder, name);
    try {
      const text = readFileSync(file, 'utf8');
      if (isPrivate(file) && isPrivate(this.#folder)) return text;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    throw unusable(
      file,
      'or its folder could have been changed by another user',
      'look at it, and run chmod 600 and 700',
    );
  }

  /** The largest size first. */
  #names(): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => /^\d{16}$/.test(name))
        .sort()
        .reverse();
    } catch {
      return [];
    }
  }
}

/** Undefined for a user without a home folder: nothing is remembered then. */
export function findRemembered(ledgerId: string): RememberedCheckpoints | undefined {
  const folder = findConfigFolder();
  return folder === undefined ? undefined : new RememberedCheckpoints(ledgerId, folder);
}

function parse(file: string, text: string): SignedCheckpoint {
  try {
    return parseCheckpoint(text);
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    throw unusable(file, `is not a checkpoint: ${error.message}`, 'restore or remove it');
  }
}

function unusable(path: string, problem: string, advice: string): ColibriError {
  return new ColibriError('ERR_CONFIG_INVALID', `the remembered checkpoint ${path} ${problem}`, { path }, { advice });
}

function nameOf(size: number): string {
  return String(size).padStart(16, '0');
}
