import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DiskEvent } from './write-log.ts';

/** Chooses whether an unsynced operation survives. */
export type Survival = 'none' | 'all' | 'some' | 'torn' | 'latest';

export const SURVIVALS: readonly Survival[] = ['none', 'all', 'some', 'torn', 'latest'];

type FileChange = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number };

interface StoredFile {
  synced: Buffer;
  unsynced: FileChange[];
  /** How many unsynced changes a sync covers that has begun. */
  covered: number;
}

/** Names that one call changes together; undefined removes a name. */
type NameChange = readonly (readonly [name: string, node: Node | undefined])[];

interface Folder {
  readonly synced: Map<string, Node>;
  readonly current: Map<string, Node>;
  unsynced: NameChange[];
}

type Node = StoredFile | Folder;

/**
 * A disk that forgets everything that POSIX lets it forget: a write survives a power loss if its file was synced, and a
 * name if its folder was synced. What was not synced survives in part, in any order and in sectors of 512 bytes.
 */
export class DiskModel {
  readonly #root: Folder = createFolder();

  apply(event: DiskEvent): void {
    if (event.kind === 'answer') return;
    switch (event.kind) {
      case 'write':
        return void this.#file(event.path)?.unsynced.push({ offset: event.offset, bytes: event.bytes });
      case 'truncate':
        return void this.#file(event.path)?.unsynced.push({ size: event.size });
      case 'create':
        if (this.#find(event.path) === undefined) this.#name([[event.path, createFile()]]);
        return;
      case 'folder':
        return this.#name([[event.path, createFolder()]]);
      case 'remove':
        return this.#name([[event.path, undefined]]);
      case 'link':
        return this.#name([[event.target, this.#find(event.path)]]);
      case 'rename':
        return this.#name([
          [event.target, this.#find(event.path)],
          [event.path, undefined],
        ]);
      case 'sync began': {
        const node = this.#find(event.path);
        if (node !== undefined && !isFolder(node)) node.covered = node.unsynced.length;
        return;
      }
      case 'sync ended':
        return sync(this.#find(event.path));
    }
  }

  /** Writes the files as they may be found after a power loss. */
  writeImage(target: string, survival: Survival, random: () => number): void {
    writeFolder(target, this.#root, createChoice(survival, random));
  }

  #find(path: string): Node | undefined {
    if (path === '') return this.#root;
    const parent = this.#find(parentOf(path));
    return parent !== undefined && isFolder(parent) ? parent.current.get(nameOf(path)) : undefined;
  }

  #file(path: string): StoredFile | undefined {
    const node = this.#find(path);
    return node === undefined || isFolder(node) ? undefined : node;
  }

  /** All names of one call are in one folder: Colibri and SQLite move no file to another folder. */
  #name(changes: NameChange): void {
    const folder = this.#find(parentOf(changes[0]?.[0] ?? ''));
    if (folder === undefined || !isFolder(folder)) return;
    const named = changes.map(([path, node]) => [nameOf(path), node] as const);
    for (const [name, node] of named) setName(folder.current, name, node);
    folder.unsynced.push(named);
  }
}

interface Choice {
  keeps(position: number, count: number): boolean;
  /** The parts of a write that survive. */
  partsOf(change: FileChange): FileChange[];
}

const SECTOR = 512;

function createChoice(survival: Survival, random: () => number): Choice {
  const whole = (change: FileChange) => [change];
  switch (survival) {
    case 'none':
      return { keeps: () => false, partsOf: whole };
    case 'all':
      return { keeps: () => true, partsOf: whole };
    case 'some':
      return { keeps: () => random() < 0.5, partsOf: whole };
    case 'latest':
      return { keeps: (position, count) => position >= count / 2, partsOf: whole };
    case 'torn':
      return {
        keeps: () => random() < 0.8,
        partsOf: (change) => ('size' in change ? [change] : sectorsOf(change).filter(() => random() < 0.7)),
      };
  }
}

function sectorsOf({ offset, bytes }: { readonly offset: number; readonly bytes: Buffer }): FileChange[] {
  const sectors: FileChange[] = [];
  for (let begin = 0; begin < bytes.length; ) {
    const end = Math.min(bytes.length, begin + SECTOR - ((offset + begin) % SECTOR));
    sectors.push({ offset: offset + begin, bytes: bytes.subarray(begin, end) });
    begin = end;
  }
  return sectors;
}

function writeFolder(target: string, { synced, unsynced }: Folder, choice: Choice): void {
  mkdirSync(target, { mode: 0o700, recursive: true });
  const names = new Map(synced);
  for (const [position, change] of unsynced.entries())
    if (choice.keeps(position, unsynced.length)) for (const [name, node] of change) setName(names, name, node);
  for (const [name, node] of names)
    if (isFolder(node)) writeFolder(join(target, name), node, choice);
    else writeFileSync(join(target, name), contentOf(node, choice), { mode: 0o600 });
}

function contentOf({ synced, unsynced }: StoredFile, choice: Choice): Buffer {
  const kept = unsynced.filter((_, position) => choice.keeps(position, unsynced.length));
  return applyAll(
    synced,
    kept.flatMap((change) => choice.partsOf(change)),
  );
}

function applyAll(content: Buffer, changes: readonly FileChange[]): Buffer {
  let bytes = content;
  for (const change of changes) {
    if ('size' in change) bytes = resized(bytes, change.size);
    else {
      const end = change.offset + change.bytes.length;
      bytes = resized(bytes, Math.max(bytes.length, end));
      change.bytes.copy(bytes, change.offset);
    }
  }
  return bytes;
}

/** A copy: what is synced must not change with an image of it. */
function resized(bytes: Buffer, size: number): Buffer {
  const copy = Buffer.alloc(size);
  bytes.copy(copy, 0, 0, Math.min(size, bytes.length));
  return copy;
}

function sync(node: Node | undefined): void {
  if (node === undefined) return;
  if (isFolder(node)) {
    node.synced.clear();
    for (const [name, child] of node.current) node.synced.set(name, child);
    node.unsynced = [];
  } else {
    node.synced = applyAll(node.synced, node.unsynced.splice(0, node.covered));
    node.covered = 0;
  }
}

function setName(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}

function createFile(): StoredFile {
  return { synced: Buffer.alloc(0), unsynced: [], covered: 0 };
}

function createFolder(): Folder {
  return { synced: new Map(), current: new Map(), unsynced: [] };
}

function isFolder(node: Node): node is Folder {
  return 'current' in node;
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === '.' ? '' : parent;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
