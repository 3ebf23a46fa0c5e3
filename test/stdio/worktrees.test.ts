import { existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CliProject } from '../support/cli-project.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, verifyFile } from '../support/ledger.ts';
import { startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { git, linkWorkTree } from '../trust/fixtures/git-index.ts';

/** Starts a server in a folder and returns the path of the ledger that it uses. */
async function ledgerUsedIn(cwd: string): Promise<string> {
  const client = await connectRaw({ cwd });
  const { db } = (await client.data('server_health')) as { db: { path: string } };
  await client.end();
  return db.path;
}

function makeRepository(): string {
  const root = realpathSync(tempFolder());
  mkdirSync(join(root, '.git'));
  return root;
}

describe('one repository, one ledger', () => {
  promiseTest(
    'process/worktrees',
    'a linked work tree and its subfolders use the ledger of the main work tree',
    async () => {
      const main = makeRepository();
      const linked = join(main, '.claude', 'worktrees', 'fix');
      const subfolder = join(linked, 'packages', 'one');
      linkWorkTree(join(main, '.git'), linked);
      mkdirSync(subfolder, { recursive: true });
      for (const cwd of [linked, subfolder, main]) expect(await ledgerUsedIn(cwd)).toBe(ledgerIn(main));
      expect(existsSync(ledgerIn(linked))).toBe(false);
      await verifyFile(ledgerIn(main));
    },
  );

  promiseTest(
    'process/worktrees',
    'work trees created by git share a ledger, wherever the repository itself is',
    async () => {
      const main = realpathSync(tempFolder());
      const bare = `${realpathSync(tempFolder())}/r.git`;
      const inside = realpathSync(tempFolder());
      const separate = realpathSync(tempFolder());
      const beside = realpathSync(tempFolder());
      // Without git on the machine the layout of the other tests is all there is to check.
      if (!git(main, 'init', '-q')) return;
      git(main, 'commit', '-q', '--allow-empty', '-m', 'first');
      git(main, 'worktree', 'add', '-q', `${beside}/one`);
      git(main, 'clone', '-q', '--bare', main, bare);
      git(bare, 'worktree', 'add', '-q', `${beside}/two`);
      git(main, 'clone', '-q', '--bare', main, `${inside}/.bare`);
      writeFileSync(`${inside}/.git`, 'gitdir: ./.bare\n');
      git(inside, 'worktree', 'add', '-q', `${inside}/three`);
      git(separate, 'clone', '-q', `--separate-git-dir=${beside}/meta`, main, 'top');
      git(`${separate}/top`, 'config', 'core.worktree', `${separate}/top`);
      git(`${separate}/top`, 'worktree', 'add', '-q', `${beside}/four`);
      const used: readonly [string, string][] = [
        [`${beside}/one`, main],
        [`${beside}/two`, bare],
        [inside, inside],
        [`${inside}/three`, inside],
        [`${separate}/top`, `${separate}/top`],
        [`${beside}/four`, `${separate}/top`],
      ];
      for (const [folder, shared] of used) expect(await ledgerUsedIn(folder)).toBe(ledgerIn(shared));
    },
  );

  promiseTest(
    'process/worktrees',
    'the first server in a subfolder of a repository creates the ledger at its top',
    async () => {
      const main = makeRepository();
      const subfolder = join(main, 'packages', 'one');
      mkdirSync(subfolder, { recursive: true });
      expect(await ledgerUsedIn(subfolder)).toBe(ledgerIn(main));
    },
  );

  const UNLINKED: readonly [string, (main: string, folder: string) => void, inside?: string][] = [
    [
      'the repository names another folder back',
      (main, folder) => {
        linkWorkTree(join(main, '.git'), folder);
        writeFileSync(join(main, '.git/worktrees/folder/gitdir'), `${join(main, 'elsewhere', '.git')}\n`);
      },
    ],
    [
      'the repository names nothing back',
      (main, folder) => {
        linkWorkTree(join(main, '.git'), folder);
        renameSync(join(main, '.git/worktrees/folder/gitdir'), join(main, '.git/worktrees/folder/gone'));
      },
    ],
    [
      'its .git names the repository itself',
      (main, folder) => {
        mkdirSync(folder);
        writeFileSync(join(folder, '.git'), `gitdir: ${join(main, '.git')}\n`);
      },
    ],
    [
      'a folder of its own names the repository and itself',
      (main, folder) => forgeLink(folder, { gitFolder: 'fake', repository: join(main, '.git') }),
    ],
    [
      'a folder of its own is called like one of the repository',
      (main, folder) => forgeLink(folder, { gitFolder: 'worktrees/folder', repository: join(main, '.git') }),
    ],
    [
      'a repository of its own names another folder as its work tree',
      (main, folder) => {
        forgeLink(folder, { gitFolder: '.git-data/worktrees/folder', repository: join(folder, '.git-data') });
        writeFileSync(join(folder, '.git-data', 'config'), `[core]\n\tworktree = ${main}\n`);
      },
      '.git-data',
    ],
    ['it is a submodule', makeSubmodule],
    [
      'its .git is garbage',
      (_main, folder) => {
        mkdirSync(folder);
        writeFileSync(join(folder, '.git'), 'gitdir');
      },
    ],
  ];
  for (const [when, make, inside = ''] of UNLINKED) {
    promiseTest('process/worktrees', `a folder has its own ledger when ${when}`, async () => {
      const main = makeRepository();
      const folder = join(realpathSync(tempFolder()), 'folder');
      make(main, folder);
      expect(await ledgerUsedIn(folder)).toBe(ledgerIn(join(folder, inside)));
      expect(existsSync(ledgerIn(main))).toBe(false);
    });
  }

  promiseTest('process/worktrees', 'commands in a linked work tree report which ledger they use', async () => {
    const place = new CliProject();
    mkdirSync(place.path('.git'));
    const linked = place.path('linked');
    linkWorkTree(place.path('.git'), linked);
    await ledgerUsedIn(place.folder);
    const board = await place.runWith({ cwd: linked }, 'board', '--json');
    expect(board.status).toBe(0);
    expect(board.stderr).toBe(`Using the ledger of ${place.folder}: ${linked} is a git worktree of it.\n`);
    const add = await place.runWith({ cwd: linked }, 'add', 'a task', '--as', 'ada');
    expect(add.stderr).toContain(`Using the ledger of ${place.folder}: ${linked} is a git worktree of it.\n`);
    expect((await place.runWith({ cwd: linked }, 'doctor')).stdout).toContain(
      `${linked} shares the ledger of its main work tree, ${place.folder}`,
    );
  });

  promiseTest('process/worktrees', 'commands and the server in a subfolder report which ledger they use', async () => {
    const place = new CliProject();
    mkdirSync(place.path('.git'));
    const cwd = place.path('packages');
    mkdirSync(cwd);
    await ledgerUsedIn(place.folder);
    const reason = `${cwd} is inside it`;
    const line = `Using the ledger of ${place.folder}: ${reason}.\n`;
    expect((await place.runWith({ cwd }, 'board', '--json')).stderr).toBe(line);
    expect((await place.runWith({ cwd }, 'add', 'a task', '--as', 'ada')).stderr).toContain(line);
    expect((await place.runWith({ cwd }, 'backup', 'monday.db')).stderr).toBe(line);
    expect((await place.runWith({ cwd }, 'restore', 'monday.db')).stderr).toBe(line);
    expect((await place.runWith({ cwd: place.folder }, 'board')).stderr).toBe('');
    const server = startProgram({ cwd, env: { COLIBRI_LOG_LEVEL: 'info' } });
    const ready = await server.whenFound('stderr', (lines) => lines.find((text) => text.includes('"ready"')));
    expect(JSON.parse(ready)).toMatchObject({
      ledger: ledgerIn(place.folder),
      reason: `ledger of ${place.folder}: ${reason}`,
    });
    server.child.kill('SIGTERM');
    await server.exit;
  });

  promiseTest('process/worktrees', 'doctor reports a main work tree that git does not record', async () => {
    const place = new CliProject();
    const [repository, linked, main] = [place.path('meta'), place.path('linked'), place.path('main')];
    linkWorkTree(repository, linked);
    const doctor = async () => (await place.runWith({ cwd: linked }, 'doctor')).stdout;
    writeFileSync(join(repository, 'config'), '[core]\n\tbare = false\n');
    expect(await doctor()).toContain(`${linked} uses the ledger of ${repository}, and the main work tree has its own`);
    expect(await doctor()).toContain('run git config core.worktree');
    mkdirSync(main);
    writeFileSync(join(main, '.git'), `gitdir: ${repository}\n`);
    const inMain = async () => (await place.runWith({ cwd: main }, 'doctor')).stdout;
    expect(await inMain()).toContain(`the linked work trees of ${repository} use a ledger there`);
    expect(await inMain()).toContain('run git config core.worktree');
    writeFileSync(join(repository, 'config'), `[core]\n\tbare = false\n\tworktree = ${main}\n`);
    expect(await inMain()).not.toContain('linked work trees');
    expect(await doctor()).toContain(`${linked} shares the ledger of its main work tree, ${main}`);
    writeFileSync(join(repository, 'config'), '[core]\n\tbare = true\n');
    expect(await doctor()).toContain(`${linked} shares the ledger of its main work tree, ${repository}`);
  });

  promiseTest('process/worktrees', 'skills are those of the work tree around the folder', async () => {
    const main = makeRepository();
    const linked = join(realpathSync(tempFolder()), 'linked');
    linkWorkTree(join(main, '.git'), linked);
    const skill = join(linked, '.agents', 'skills', 'deploy');
    const subfolder = join(linked, 'packages');
    mkdirSync(skill, { recursive: true });
    mkdirSync(subfolder);
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: deploy\ndescription: How to deploy.\n---\n');
    const client = await connectRaw({ cwd: subfolder });
    const path = '.agents/skills/deploy/SKILL.md';
    expect(await client.data('skill_list')).toMatchObject({ skills: [{ name: 'deploy', path }] });
    await client.end();
  });
});

/** An archive with a work tree that claims to be linked to a repository. */
function forgeLink(folder: string, { gitFolder, repository }: { gitFolder: string; repository: string }): void {
  const path = join(folder, gitFolder);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(folder, '.git'), `gitdir: ${gitFolder}\n`);
  writeFileSync(join(path, 'gitdir'), `${join(folder, '.git')}\n`);
  writeFileSync(join(path, 'commondir'), `${repository}\n`);
}

function makeSubmodule(main: string, folder: string): void {
  const gitFolder = join(main, '.git', 'modules', 'folder');
  mkdirSync(gitFolder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(folder, '.git'), `gitdir: ${gitFolder}\n`);
}
