import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import { type Digest, parseCheckpoint, type SignedCheckpoint } from '../integrity/index.ts';
import { createPrivateFile, isPrivate } from '../trust/private-file.ts';

/**
 * The newest checkpoint of each log that this user has signed, outside of the ledger's folder: what a restored backup or
 * a cut log cannot take back. One file for each size, created and never changed, so that two processes cannot lose each
 * other's and one size cannot have two roots.
 */
export class RememberedCheckpoints {
  readonly #folder: string;

  constructor(ledgerId: string, configFolder: string) {
    this.#folder = join(configFolder, 'colibri', 'checkpoints', ledgerId);
  }

  /** Undefined if none was signed here, or if another user could have changed it. */
  newest(): (SignedCheckpoint & { readonly text: string }) | undefined {
    const [name] = this.#names();
    if (name === undefined) return undefined;
    const file = join(this.#folder, name);
    if (!isPrivate(file) || !isPrivate(this.#folder)) return undefined;
    const text = readFileSync(file, 'utf8');
    return { ...parseCheckpoint(text), text };
  }

  /** Returns the root that is remembered for this size: another one if a process has signed another history. */
  remember(text: string): Digest {
    const { size, root } = parseCheckpoint(text);
    const name = nameOf(size);
    const isNew = createPrivateFile(join(this.#folder, name), text);
    for (const older of this.#names()) if (older < name) rmSync(join(this.#folder, older), { force: true });
    return isNew ? root : parseCheckpoint(readFileSync(join(this.#folder, name), 'utf8')).root;
  }

  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
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

function nameOf(size: number): string {
  return String(size).padStart(16, '0');
}
