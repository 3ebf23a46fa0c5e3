import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findGitFolder, readPointer } from './git-folder.ts';
import { isOwnRepository } from './main-work-tree.ts';

/**
 * Whether the repository around a folder has an object whose hash begins so. Reads the object store itself, because a
 * server starts no process for a call. Undefined without a repository, and if objects may be elsewhere.
 */
export function hasCommit(folder: string, sha: string): boolean | undefined {
  try {
    const store = findObjects(folder);
    if (store === undefined || !/^[0-9a-f]{4,40}$/.test(sha)) return undefined;
    if (hasLoose(store, sha)) return true;
    const packs = listFolder(join(store, 'pack'));
    for (const name of packs) if (name.endsWith('.idx') && hasPacked(join(store, 'pack', name), sha)) return true;
    return packs.some((name) => name.endsWith('.promisor')) || mayBeElsewhere(store) ? undefined : false;
  } catch {
    // A repository that cannot be read proves nothing.
    return undefined;
  }
}

const HEADER = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const FANOUT_ENTRIES = 256;
const HASHES_AT = HEADER.length + FANOUT_ENTRIES * 4;
const SHA1_BYTES = 20;

function findObjects(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const gitFolder = findGitFolder(at);
    // An unpacked archive can name any other repository.
    if (gitFolder !== undefined && !isOwnRepository(at)) return undefined;
    if (gitFolder !== undefined) {
      const common = join(gitFolder, 'commondir');
      return join(existsSync(common) ? resolve(gitFolder, readPointer(common)) : gitFolder, 'objects');
    }
    if (dirname(at) === at) return undefined;
  }
}

/** Other repositories that lend objects, submodules with repositories of their own, and a history that was cut. */
function mayBeElsewhere(store: string): boolean {
  const has = (path: string) => existsSync(join(store, path));
  return has('info/alternates') || has('../shallow') || listFolder(join(store, '../modules')).length > 0;
}

function hasLoose(store: string, sha: string): boolean {
  return listFolder(join(store, sha.slice(0, 2))).some((name) => name.startsWith(sha.slice(2)));
}

function listFolder(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

/** Searches an index of version 2 (gitformat-pack): sorted hashes behind a table of how many begin with each byte. */
function hasPacked(path: string, sha: string): boolean {
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file`);
  const file = openSync(path, 'r');
  try {
    if (!read(file, 0, HEADER.length).equals(HEADER)) throw new Error(`${path} has another version`);
    const first = Number.parseInt(sha.slice(0, 2), 16);
    const countTo = (byte: number) => (byte < 0 ? 0 : read(file, HEADER.length + byte * 4, 4).readUInt32BE());
    let [low, high] = [countTo(first - 1), countTo(first)];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const hash = read(file, HASHES_AT + middle * SHA1_BYTES, SHA1_BYTES).toString('hex');
      if (hash.startsWith(sha)) return true;
      if (hash < sha) low = middle + 1;
      else high = middle;
    }
    return false;
  } finally {
    closeSync(file);
  }
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, position) !== length) throw new Error('the index ends early');
  return bytes;
}
