import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openVault } from '../../src/cli/notes/vault/folder.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { folderIn } from './vault.ts';

describe('the folder of an export', () => {
  const REFUSED: Readonly<Record<string, readonly [prepare: (folder: string) => string, says: RegExp]>> = {
    'without a name': [() => ' ', /has no name/],
    'that is a file': [
      (folder) => {
        writeFileSync(join(folder, 'notes'), '');
        return 'notes';
      },
      /is not a folder/,
    ],
    'that is a link': [
      (folder) => {
        symlinkSync(tempFolder(), join(folder, 'notes'));
        return 'notes';
      },
      /notes is a link/,
    ],
    'that is a broken link': [
      (folder) => {
        symlinkSync(join(folder, 'nowhere'), join(folder, 'notes'));
        return 'notes';
      },
      /notes is a link/,
    ],
    'below a link of the project': [
      (folder) => {
        symlinkSync(tempFolder(), join(folder, 'docs'));
        return 'docs/notes/mine';
      },
      /docs is a link/,
    ],
    'in .git': [(folder) => join(folderIn(folder, '.git/hooks'), '..', 'notes'), /is inside \.git/],
    'in .GIT of a file system without case': [(folder) => folderIn(folder, '.GIT/x'), /is inside \.GIT/],
    'in the folder of the ledger': [(folder) => folderIn(folder, '.colibri'), /is inside \.colibri/],
    'with a link for its tasks': [
      (folder) => {
        symlinkSync(tempFolder(), join(folderIn(folder, 'notes'), 'tasks'));
        return 'notes';
      },
      /tasks is not a folder/,
    ],
    'with a file for its days': [
      (folder) => {
        writeFileSync(join(folderIn(folder, 'notes'), 'days'), '');
        return 'notes';
      },
      /days is not a folder/,
    ],
  };
  for (const [what, [prepare, says]] of Object.entries(REFUSED))
    promiseTest('notes/refusals', `one ${what} is refused`, () => {
      const folder = tempFolder();
      const path = prepare(folder);
      const before = readdirSync(folder, { recursive: true });
      expect(() => openVault(path, folder)).toThrow(says);
      expect(readdirSync(folder, { recursive: true })).toEqual(before);
    });

  promiseTest('notes/refusals', 'a new one is created for its owner, and an existing one keeps its mode', () => {
    const folder = tempFolder();
    const created = openVault('a/b/notes', folder);
    expect(readdirSync(created).toSorted()).toEqual(['agents', 'days', 'sessions', 'tasks']);
    if (process.platform !== 'win32') expect(statSync(created).mode & 0o777).toBe(0o700);
    const own = join(folder, 'own');
    mkdirSync(own, { mode: 0o755 });
    const { mode } = statSync(own);
    openVault(own, folder);
    expect(statSync(own).mode).toBe(mode);
    expect(existsSync(join(own, 'tasks'))).toBe(true);
  });
});
