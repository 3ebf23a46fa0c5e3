import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { DatabaseError } from '../../src/db/database.ts';
import { processIdOf } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { writeExtension, writeIndex } from './fixtures/git-index.ts';
import { type Clone, clonesOfOneLedger } from './fixtures/hostile-project.ts';

const createClone = clonesOfOneLedger();

type Case = readonly [name: string, change: (clone: Clone) => Promise<void> | void, reason: RegExp];

/** What only COLIBRI_DB_PATH allows. */
const UNSAFE: readonly Case[] = [
  ['its folder is a link', linkFolder, /\.colibri is a symbolic link/],
  ['it is a link', ({ path, outside }) => moveAndLink(path, outside), /colibri\.db is a symbolic link/],
  ['it is a link within the project', ({ path, root }) => moveAndLink(path, root), /colibri\.db is a symbolic link/],
  ['it is a hard link', ({ path, outside }) => linkSync(path, join(outside, 'x')), /colibri\.db is a hard link/],
  ...['-wal', '-shm', '-journal'].map((suffix): Case => {
    const link = ({ path, outside }: Clone) => symlinkSync(join(outside, 'x'), `${path}${suffix}`);
    return [`its ${suffix} file is a link to nowhere`, link, new RegExp(`${suffix} is a symbolic link`)];
  }),
  [
    'a presence file is a link',
    ({ path, outside }) => symlinkSync(outside, `${path}-${processIdOf('x')}.live`),
    /\.live is a symbolic link/,
  ],
  ['its -wal file is a socket', ({ path }) => listenAt(`${path}-wal`), /-wal is not a regular file/],
  ['its folder belongs to another user', pretendOtherUser, /\.colibri belongs to another user/],
];

/** What `colibri trust` allows as well. */
const SIGNS: readonly Case[] = [
  ['git tracks it', (clone) => clone.track(), /colibri\.db is tracked by git/],
  ['git tracks it in other letters', (clone) => clone.track('.Colibri/COLIBRI.db'), /is tracked by git/],
  ['git tracks its -wal file', trackSideFile, /colibri\.db-wal is tracked by git/],
  ['git tracks it in a work tree', trackInWorkTree, /is tracked by git/],
  ['git tracks it in a work tree whose .git ends in two line breaks', trackBehindLineBreaks, /is tracked by git/],
  ['.git names no folder', nameNoFolder, /may be tracked by git/],
  ['git tracks its folder in a sparse index', (clone) => clone.track('.colibri/'), /is tracked by git/],
  ['git tracks it in a split index', trackInSplitIndex, /is tracked by git/],
  ['half of a split index is missing', (clone) => loseSharedIndex(clone), /may be tracked by git/],
  ['its folder is a submodule that tracks it', trackInSubmodule, /is tracked by git/],
  ['a repository around this one tracks it', trackOutside, /is tracked by git/],
  ['the index cannot be read', ({ root }) => writeFileSync(join(root, '.git', 'index'), 'x'), /may be tracked by git/],
  ['the index is a folder', ({ root }) => mkdirSync(join(root, '.git', 'index')), /may be tracked by git/],
  ['others may read it', ({ path }) => chmodSync(path, 0o604), /colibri\.db is open to other users/],
  ['the group may read it', ({ path }) => chmodSync(path, 0o640), /colibri\.db is open to other users/],
  ['others may enter its folder', ({ folder }) => chmodSync(folder, 0o701), /\.colibri is open to other users/],
  ['others may read its -wal file', makeOpenSideFile, /-wal is open to other users/],
];

describe('a ledger that was found in a project', () => {
  for (const [name, change, reason] of UNSAFE)
    promiseTest('clone/unsafe', name, async () => {
      for (const message of await listRefusals(change)) {
        expect(message).toMatch(reason);
        expect(message).not.toContain('colibri trust');
      }
    });

  for (const [name, change, reason] of SIGNS)
    promiseTest('clone/refused', name, async () => {
      for (const message of await listRefusals(change)) {
        expect(message).toMatch(reason);
        expect(message).toContain('colibri trust');
      }
    });

  const OPENABLE = [...UNSAFE.filter(([name]) => /^it is|^its folder/.test(name)), ...SIGNS];
  for (const [name, change] of OPENABLE)
    promiseTest('clone/refused', `${name}, and COLIBRI_DB_PATH names it: it is opened`, async () => {
      const clone = await createClone();
      await change(clone);
      await clone.open(true);
    });
});

describe('a path that COLIBRI_DB_PATH names', () => {
  for (const [name, replace, reason] of [
    ['it is a FIFO', (path) => execFileSync('mkfifo', [path]), /db cannot be opened: it is not a regular file/],
    ['it is a device', (path) => symlinkSync('/dev/zero', path), /db cannot be opened: it is not a regular file/],
    ['it is a socket', (path) => listenAt(path), /db cannot be opened: it is not a regular file/],
    ['it is a folder', (path) => mkdirSync(path), /db cannot be opened: it is a folder/],
    ['its -wal file is a FIFO', (path) => execFileSync('mkfifo', [`${path}-wal`]), /-wal cannot be opened/],
  ] as const satisfies readonly (readonly [string, (path: string) => unknown, RegExp])[])
    promiseTest('clone/unsafe', name, async () => {
      const clone = await createClone();
      rmSync(clone.path);
      await replace(clone.path);
      for (const readOnly of [false, true]) await expect(clone.open(true, readOnly)).rejects.toThrow(reason);
    });
});

describe('a ledger that was made here', () => {
  for (const [name, change] of [
    ['as it was made', () => undefined],
    [
      'an index lists other files',
      (clone: Clone) => clone.track('README.md', '.colibri/notes', 'a/.colibri/colibri.db'),
    ],
    ['.git is not a repository', ({ root }: Clone) => writeFileSync(join(root, 'a'), 'gitdir: nowhere')],
    ['dead servers left files', ({ path }: Clone) => writeFileSync(`${path}-${processIdOf('dead')}.live`, '')],
    ['backups lie beside it', ({ folder }: Clone) => writeFileSync(join(folder, 'colibri-backup.db'), '')],
  ] as const) {
    promiseTest('clone/own', name, async () => {
      const clone = await createClone();
      change(clone);
      await clone.open();
      await clone.open(false, true);
    });
  }
});

/** The messages that a writer and a reader get; nothing in the project may change meanwhile. */
async function listRefusals(change: Case[1]): Promise<string[]> {
  const clone = await createClone();
  await change(clone);
  const before = clone.snapshot();
  const messages: string[] = [];
  for (const readOnly of [false, true]) {
    const error: unknown = await clone.open(false, readOnly).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    messages.push((error as DatabaseError).message);
    expect(messages.at(-1)).toContain(`set COLIBRI_DB_PATH to ${clone.path}`);
  }
  expect(clone.snapshot()).toEqual(before);
  return messages;
}

function linkFolder({ folder, outside }: Clone): void {
  renameSync(folder, join(outside, 'ledger'));
  symlinkSync(join(outside, 'ledger'), folder);
}

function moveAndLink(path: string, target: string): void {
  renameSync(path, join(target, 'real.db'));
  symlinkSync(join(target, 'real.db'), path);
}

async function listenAt(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

function pretendOtherUser(): void {
  const own = process.geteuid?.() ?? 0;
  const user = vi.spyOn(process, 'geteuid').mockReturnValue(own + 1);
  onTestFinished(() => user.mockRestore());
}

function trackSideFile(clone: Clone): void {
  writeFileSync(`${clone.path}-wal`, '', { mode: 0o600 });
  clone.track('.colibri/colibri.db-wal');
}

function trackInWorkTree({ root, outside }: Clone): void {
  renameSync(join(root, '.git'), join(outside, 'git'));
  writeFileSync(join(root, '.git'), `gitdir: ${join('..', 'outside', 'git')}\n`);
  writeFileSync(join(outside, 'git', 'index'), writeIndex(['.colibri/colibri.db'], { version: 4 }));
}

function trackBehindLineBreaks(clone: Clone): void {
  trackInWorkTree(clone);
  writeFileSync(join(clone.root, '.git'), `gitdir: ${join('..', 'outside', 'git')}\n\n`);
}

function nameNoFolder(clone: Clone): void {
  trackInWorkTree(clone);
  writeFileSync(join(clone.root, '.git'), `gitdir: ${join('..', 'outside', 'git')} \n`);
}

function loseSharedIndex({ root }: Clone, hash = Buffer.alloc(20, 0xcd)): void {
  const extensions = writeExtension('link', hash);
  writeFileSync(join(root, '.git', 'index'), writeIndex(['README.md'], { extensions }));
}

function trackInSplitIndex(clone: Clone): void {
  const hash = Buffer.alloc(20, 0xab);
  loseSharedIndex(clone, hash);
  const { root } = clone;
  writeFileSync(join(root, '.git', `sharedindex.${hash.toString('hex')}`), writeIndex(['.colibri/colibri.db']));
}

function trackInSubmodule({ folder, root }: Clone): void {
  mkdirSync(join(root, '.git', 'modules', 'ledger'), { recursive: true });
  writeFileSync(join(folder, '.git'), 'gitdir: ../.git/modules/ledger\n');
  writeFileSync(join(root, '.git', 'modules', 'ledger', 'index'), writeIndex(['colibri.db']));
}

/** As after `git init` in a folder of a clone. */
function trackOutside({ root }: Clone): void {
  const outer = join(root, '..', '.git');
  mkdirSync(outer);
  writeFileSync(join(outer, 'index'), writeIndex(['project/.colibri/colibri.db']));
}

function makeOpenSideFile({ path }: Clone): void {
  copyFileSync(path, `${path}-wal`);
  chmodSync(`${path}-wal`, 0o644);
}
