import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { explainFullDisk, hasNoSpace, isFullDisk, reasonOf } from '../../src/files/full-disk.ts';
import { CliProject, inherited } from '../support/cli-project.ts';
import { tempFolder } from '../support/folders.ts';
import { verifyFile } from '../support/ledger.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createSmallDisk } from './disk/small-disk.ts';

const FULL = 'the disk is full; free some space and try again';

/** Takes all space, or all but some kilobytes. */
const fill = (leftKb = 0) =>
  `head -c ${leftKb}k /dev/zero > left; { head -c 8m /dev/zero > filler; } 2>/dev/null;
  while head -c 4096 /dev/zero >> filler 2>/dev/null; do :; done; rm left;`;

interface Failure {
  readonly message: string;
}

const LONG_TASK = `add Two --description "$(head -c 7900 /dev/zero | tr '\\0' x)"`;

describe('what a command says about a full disk', () => {
  promiseTest('fault/full-disk', 'in every command that writes there, with the same advice', async () => {
    const project = new CliProject();
    const env = { COLIBRI_KEY_PATH: project.path('key') };
    await project.runWith({ env }, 'add', 'One');
    await project.runWith({ env }, 'checkpoint');
    const ledger = project.path('.colibri/colibri.db');
    const disk = createSmallDisk(tempFolder());
    if (disk === undefined) return;
    const run = (script: string, variables: Record<string, string> = {}) => {
      const [command, ...args] = [...disk.launcher, 'sh', '-c', script, process.execPath, PROGRAM];
      const { stdout, stderr } = spawnSync(command, args, { env: { ...inherited(), ...variables }, encoding: 'utf8' });
      return stdout + stderr;
    };
    const own = 'mkdir -m 700 .colibri; "$0" "$1" add One >/dev/null 2>&1;';
    const elsewhere = { COLIBRI_DB_PATH: ledger, ...env };
    const said = {
      // SQLite cannot create the files that it needs beside the ledger.
      open: run(`${own} ${fill()} "$0" "$1" add Two; "$0" "$1" list; "$0" "$1" verify`),
      // It can, and has no space for the first entry, or for the second.
      enter: run(`${own} ${fill(36)} "$0" "$1" ${LONG_TASK}`),
      exit: run(`${own} ${fill(64)} "$0" "$1" ${LONG_TASK}`),
      json: (JSON.parse(run(`${own} ${fill(36)} "$0" "$1" ${LONG_TASK} --json 2>/dev/null`)) as Failure).message,
      export: run(`${fill()} "$0" "$1" export --all --out bundle.json`, elsewhere),
      notes: run(`${fill()} "$0" "$1" export --markdown notes`, elsewhere),
      backup: run(`${fill()} "$0" "$1" backup copy.db`, elsewhere),
      publish: run(`${fill()} "$0" "$1" publish site`, elsewhere),
      init: run(`${fill()} mkdir .git; "$0" "$1" init claude-code`, elsewhere),
      print: run(`${fill()} "$0" "$1" log --json > output`, elsewhere),
    };
    for (const [name, text] of Object.entries(said)) {
      expect(text, name).toContain(FULL);
      expect(text, name).not.toMatch(/ENOSPC|server_health|\n {4}at /);
    }
    // One line for each command.
    expect(said.open.split(FULL)).toHaveLength(4);
    await verifyFile(ledger);
  });

  promiseTest('fault/full-disk', 'by the codes of the system, and nothing else', () => {
    const error = (code: string, path?: string) =>
      Object.assign(new Error(`${code}: no`), { code, ...(path && { path }) });
    for (const code of ['ENOSPC', 'EDQUOT']) {
      expect(explainFullDisk(error(code))).toMatchObject({ message: FULL, cause: error(code) });
      expect(explainFullDisk(error(code, '/a/b')).message).toBe(`/a/b: ${FULL}`);
      expect(reasonOf(error(code))).toBe('the disk is full');
    }
    for (const other of [error('EIO'), new Error('ENOSPC'), 'ENOSPC', undefined]) {
      expect(isFullDisk(other)).toBe(false);
      expect(explainFullDisk(other).message).not.toContain('full');
    }
    expect([hasNoSpace(process.execPath), hasNoSpace('/missing/folder/file')]).toEqual([false, false]);
  });
});
