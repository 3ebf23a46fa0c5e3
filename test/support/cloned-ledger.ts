import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { Place } from './cli-project.ts';
import { writeIndex } from './git-index.ts';
import { runProgram } from './init-program.ts';
import { snapshot } from './init-project.ts';

/** Makes a ledger with three tasks once for all tests of a file; each test gets copies of it, as after a clone. */
export function clonesOfOneLedger(): () => Promise<Clone> {
  let original: Promise<Place> | undefined;
  afterAll(async () => (await original)?.remove());
  return async () => {
    original ??= createOriginal();
    return createClone((await original).ledger);
  };
}

export type Clone = ReturnType<typeof createClone>;

async function createOriginal(): Promise<Place> {
  const place = new Place({ isShared: true });
  await place.addTasks('first', 'second', 'third');
  return place;
}

/** A project whose ledger looks as if it was made here, until a test changes that; and a home folder beside it. */
function createClone(ledger: string) {
  const top = mkdtempSync(join(tmpdir(), 'colibri-clone-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [root, home, outside] = [join(top, 'project'), join(top, 'home'), join(top, 'outside')];
  const folder = join(root, '.colibri');
  for (const path of [join(root, '.git'), home, outside]) mkdirSync(path, { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'colibri.db');
  copyFileSync(ledger, path);
  chmodSync(path, 0o600);
  const env = { HOME: home };
  return {
    root,
    home,
    outside,
    folder,
    path,
    env,
    /** As git leaves it in a clone: listed in the index, and readable by everyone. */
    track: (...names: readonly string[]) =>
      writeFileSync(join(root, '.git', 'index'), writeIndex(names.length > 0 ? names : ['.colibri/colibri.db'])),
    run: (args: readonly string[], extra: Record<string, string> = {}) =>
      runProgram(args, { cwd: root, home, env: { ...extra } }),
    snapshot: () => snapshot(root),
    /** As a server opens the ledger that it found in a project, or one that was named. */
    open: async (isNamed = false, readOnly = false) => {
      const place = isNamed ? { dbPath: path } : { dbPath: undefined, projectDbPath: path };
      const database = await openDatabase({ ...place, mode: 'FULL', durability: 'full', readOnly });
      await database.close();
    },
  };
}
