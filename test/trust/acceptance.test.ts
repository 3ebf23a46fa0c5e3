import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { runProgram } from '../init/init-project.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type Clone, clonesOfOneLedger } from './fixtures/hostile-project.ts';

const createClone = clonesOfOneLedger();

describe('an acceptance is for one ledger in one place', () => {
  promiseTest('trust/accepts', 'a ledger stays accepted while servers write to it', async () => {
    const clone = await createAccepted();
    for (const count of [1, 2, 3]) {
      const client = await connectRaw({ cwd: clone.root, env: clone.env });
      expect(await client.data('server_health')).toMatchObject({
        status: 'ok',
        ledger: { size: expect.any(Number) as number },
      });
      await client.call('task_create', { title: `more ${count}` });
      await client.end();
    }
    expect(clone.run(['verify']).code).toBe(0);
  });

  const SWAPS: readonly (readonly [name: string, swap: (clone: Clone) => Promise<void> | void])[] = [
    ['another ledger in its place', swapInPlace],
    ['another ledger in its place, as git replaces a file', swapByRename],
    ['an older state of the same ledger', (clone) => tamper(clone.path, CUT)],
    ['a rewritten beginning', (clone) => tamper(clone.path, REWRITTEN)],
    ['other titles under the same root', (clone) => tamper(clone.path, "UPDATE tasks SET title = 'other'")],
    ['other entries under the same root', (clone) => tamper(clone.path, OTHER_ENTRIES)],
    ['fewer calls under the same root', (clone) => tamper(clone.path, 'DELETE FROM call_exits WHERE sequence_no = 1')],
  ];
  for (const [name, swap] of SWAPS)
    promiseTest('trust/bound', `${name} is not accepted`, async () => {
      const clone = await createAccepted();
      await swap(clone);
      const before = clone.snapshot();
      const { code, stderr } = clone.run(['board']);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /not the one that was accepted|was changed since it was accepted|does not end where|misses rows|is not as|damaged/,
      );
      expect(clone.snapshot()).toEqual(before);
    });

  promiseTest('trust/bound', 'verify lists the changes of an accepted ledger', async () => {
    const clone = await createAccepted();
    await tamper(clone.path, "UPDATE tasks SET title = 'other'");
    expect(clone.run(['verify'])).toMatchObject({ code: 1, stdout: expect.stringContaining('TAMPERED') as string });
  });

  promiseTest('trust/accepts', 'a ledger that has not changed since is neither copied nor verified again', async () => {
    const clone = await createAccepted();
    const withoutCopies = { TMPDIR: join(clone.outside, 'missing') };
    expect(clone.run(['board'], withoutCopies).code).toBe(2);
    expect(clone.run(['board']).code).toBe(0);
    expect(clone.run(['board'], withoutCopies).code).toBe(0);
    await tamper(clone.path, "UPDATE tasks SET title = 'other'");
    expect(clone.run(['board']).code).toBe(2);
  });

  promiseTest('trust/bound', 'the same ledger in another folder is not accepted', async () => {
    const clone = await createAccepted();
    const moved = `${clone.root}-moved`;
    renameSync(clone.root, moved);
    expect(runProgram(['verify'], { cwd: moved, home: clone.home }).code).toBe(2);
  });

  promiseTest('trust/bound', 'the acceptance of one user does not count for another', async () => {
    const clone = await createAccepted();
    expect(clone.run(['verify'], { HOME: clone.outside }).code).toBe(2);
  });

  const FORGERIES: readonly (readonly [name: string, forge: (file: string, clone: Clone) => void])[] = [
    ['a link', (file, { outside }) => moveAndLink(file, join(outside, 'note.json'))],
    ['in a folder that is a link', (file, { outside }) => moveAndLink(join(file, '..'), join(outside, 'trusted'))],
    ['that others may write', (file) => chmodSync(file, 0o622)],
    ['in a folder that others may write', (file) => chmodSync(join(file, '..'), 0o777)],
    ['that is empty', (file) => writeFileSync(file, '')],
    ['that is no JSON', (file) => writeFileSync(file, '{')],
    ['that is null', (file) => writeFileSync(file, 'null')],
    ['that is a list', (file) => writeFileSync(file, '[]')],
    ['that is very long', (file) => writeFileSync(file, readFileSync(file, 'utf8') + ' '.repeat(100_000))],
    ['of another version', (file) => edit(file, { v: 2 })],
    ['for another path', (file) => edit(file, { path: '/elsewhere/colibri.db' })],
    ['for another ledger', (file) => edit(file, { ledger_id: '00000000-0000-4000-8000-000000000000' })],
    ['of no entries', (file) => edit(file, { size: 0 })],
    ['of half an entry', (file) => edit(file, { size: 1.5 })],
    ['of more entries than there are', (file) => edit(file, { size: 100_000 })],
    ['with another root', (file) => edit(file, { root: '0'.repeat(64) })],
    ['with a root that is none', (file) => edit(file, { root: '' })],
  ];
  promiseTest('trust/bound', 'an acceptance file that another user could write does not count', async () => {
    const clone = await createAccepted();
    const notes = join(clone.home, '.config', 'colibri', 'trusted');
    const kept = join(clone.outside, 'kept');
    cpSync(notes, kept, { recursive: true });
    const [file = ''] = readdirSync(kept);
    const restore = () => {
      rmSync(notes, { recursive: true, force: true });
      mkdirSync(notes, { mode: 0o700 });
      copyFileSync(join(kept, file), join(notes, file));
      chmodSync(join(notes, file), 0o600);
    };
    for (const [name, forge] of FORGERIES) {
      restore();
      forge(join(notes, file), clone);
      await expectRefused(clone, true, name);
    }
    restore();
    await expectRefused(clone, false, 'untouched');
  });
});

describe('a server on a ledger that came with a clone', () => {
  promiseTest('clone/refused', 'a server stays up and reports why, and works once the ledger is accepted', async () => {
    const clone = await createClone();
    clone.track();
    chmodSync(clone.path, 0o644);
    chmodSync(clone.folder, 0o755);
    const before = clone.snapshot();
    const client = await connectRaw({ cwd: clone.root, env: clone.env });
    expect(await client.data('server_health')).toMatchObject({
      status: 'degraded',
      mode: 'MINIMAL',
      problems: [
        { code: 'ERR_INIT_FAILED', message: expect.stringMatching(/tracked by git.*colibri trust/) as string },
      ],
    });
    expect(await client.call('task_list')).toMatchObject({ data: { ok: false, error: { code: 'ERR_INIT_FAILED' } } });
    expect(clone.snapshot()).toEqual(before);
    expect(clone.run(['trust', '--yes']).code).toBe(0);
    await client.logLine('ready');
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', mode: 'FULL' });
    await client.end();
    expect(clone.run(['verify']).code).toBe(0);
  });

  promiseTest('clone/untouched', 'no command touches the ledger, and each advises what to do', async () => {
    const clone = await createClone();
    clone.track();
    const backup = join(clone.outside, 'backup.db');
    copyFileSync(clone.path, backup);
    const before = clone.snapshot();
    for (const [args, code] of [
      [['board'], 2],
      [['show', '1'], 2],
      [['next'], 2],
      [['log'], 2],
      [['verify'], 2],
      [['backup'], 2],
      [['copy', '--to', join(clone.outside, 'copy.db')], 2],
      [['restore', backup], 2],
      [['doctor'], 1],
    ] as const) {
      const ran = clone.run(args);
      expect([args, ran.code]).toEqual([args, code]);
      expect(`${ran.stdout}${ran.stderr}`).toContain('colibri trust');
    }
    expect(clone.snapshot()).toEqual(before);
    expect(readdirSync(clone.outside)).toEqual(['backup.db']);
  });

  promiseTest('clone/refused', 'COLIBRI_DB_PATH opens the ledger', async () => {
    const clone = await createClone();
    clone.track();
    expect(clone.run(['verify'], { COLIBRI_DB_PATH: clone.path }).code).toBe(0);
  });
});

describe('a ledger that Colibri makes where one was tracked', () => {
  promiseTest('clone/own', 'the next server also uses the new ledger', async () => {
    const clone = await createClone();
    clone.track();
    rmSync(clone.path);
    chmodSync(clone.folder, 0o755);
    for (let start = 0; start < 2; start += 1) {
      const client = await connectRaw({ cwd: clone.root, env: clone.env });
      expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
      await client.end();
    }
    expect(clone.run(['doctor', '--json']).stdout).toContain('accepted on');
  });

  promiseTest(
    'clone/own',
    'a restored one is used, although others could enter its folder and it is older',
    async () => {
      const clone = await createAccepted();
      const backup = join(clone.outside, 'backup.db');
      expect(clone.run(['backup', backup]).code).toBe(0);
      rmSync(clone.path);
      chmodSync(clone.folder, 0o755);
      expect(clone.run(['restore', backup]).code).toBe(0);
      expect(clone.run(['verify']).code).toBe(0);
    },
  );

  promiseTest(
    'clone/own',
    'without a home folder a new ledger works, and the next start advises what to do',
    async () => {
      const clone = await createClone();
      clone.track();
      rmSync(clone.path);
      const env = { HOME: resolve('package.json') };
      const client = await connectRaw({ cwd: clone.root, env });
      expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
      await client.end();
      expect(clone.run(['verify'], env)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('colibri trust') as string,
      });
    },
  );
});

/** What a ledger loses when its last entries go, with everything that tells of them left as it is. */
const CUT = 'DELETE FROM ledger_entries WHERE idx > 3';
const OTHER_ENTRIES = `UPDATE ledger_entries SET entry = replace(entry, 'alice', 'mallo') WHERE idx = 1`;
const REWRITTEN = `UPDATE ledger_entries SET entry = replace(entry, '"ledger_id":"', '"ledger_id":"0') WHERE idx = 0`;

async function createAccepted(): Promise<Clone> {
  const clone = await createClone();
  clone.track();
  expect(clone.run(['trust', '--yes']).code).toBe(0);
  return clone;
}

async function otherLedger({ outside }: Clone): Promise<string> {
  const client = await connectRaw({ cwd: outside });
  await client.data('server_health');
  await client.end();
  return join(outside, '.colibri', 'colibri.db');
}

async function swapInPlace(clone: Clone): Promise<void> {
  writeFileSync(clone.path, readFileSync(await otherLedger(clone)));
}

async function swapByRename(clone: Clone): Promise<void> {
  renameSync(await otherLedger(clone), clone.path);
}

async function expectRefused(clone: Clone, isRefused: boolean, name: string): Promise<void> {
  const { code } = clone.run(['trust']);
  expect([name, code]).toEqual([name, isRefused ? 1 : 0]);
}

function moveAndLink(path: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  renameSync(path, target);
  symlinkSync(target, path);
  expect(existsSync(path)).toBe(true);
}

function edit(file: string, change: Record<string, unknown>): void {
  const note = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...note, ...change }));
}
