import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { parseCheckpoint, parseVerifierKey, verifyCheckpoint } from '../../src/integrity/index.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject, seal, write } from './support.ts';

describe('the signing key', () => {
  promiseTest('key/private', 'not in the ledger, in a backup, in an answer or in a message', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const outputs = [await project.checkpoint(), (await project.colibri('key', '--json')).stdout];
    const secret = readFileSync(project.key, 'utf8').split('\n')[1] ?? '';
    expect(secret).toHaveLength(64);
    await project.colibri('backup', project.path('copy.db'));
    const files = [project.ledger, `${project.ledger}-wal`, project.path('copy.db')].filter((file) => existsSync(file));
    for (const text of [...outputs, ...files.map((file) => readFileSync(file, 'latin1'))])
      expect(text).not.toContain(secret);
  });

  promiseTest(
    'key/refused',
    'one that others can read, a link, a folder, another kind of key, one beside the ledger',
    async () => {
      const project = new SigningProject();
      await project.colibri('add', 'one');
      await project.checkpoint();
      const pem = readFileSync(project.key, 'utf8');
      const cases: readonly (readonly [string, () => string])[] = [
        [
          'can be read by other users',
          () => {
            chmodSync(project.key, 0o644);
            return project.key;
          },
        ],
        ['is not a file', () => project.mkdir('folder')],
        [
          'does not hold an Ed25519',
          () => {
            writeFileSync(project.path('empty.pem'), '', { mode: 0o600 });
            return project.path('empty.pem');
          },
        ],
        [
          'in the folder of the ledger',
          () => {
            mkdirSync(project.path('.colibri'), { recursive: true });
            return project.path('.colibri/key.pem');
          },
        ],
      ];
      for (const [problem, place] of cases) {
        const path = place();
        const { status, stderr } = await project.runWith(
          { env: { ...project.env, COLIBRI_KEY_PATH: path } },
          'checkpoint',
        );
        expect({ status, stderr }, problem).toEqual({ status: 3, stderr: expect.stringContaining(problem) as string });
        expect(stderr).not.toContain(pem.split('\n')[1]);
      }
      const env = { ...project.env, COLIBRI_KEY_PATH: project.path('folder') };
      expect(await project.runWith({ env }, 'doctor')).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(/^fail signing-key +the signing key .* is not a file$/m) as string,
      });
      const agent = await project.openAgent('alice', env);
      const refused = {
        status: 'degraded',
        problems: [{ code: 'SIGNING_FAILED', message: expect.stringContaining('is not a file') as string }],
        signing: { state: 'off', reason: expect.stringContaining('is not a file') as string },
      };
      expect((await call(agent, 'server_health', {})).data, 'before the first signature').toMatchObject(refused);
      expect(await call(agent, 'task_create', { title: 'works' })).toMatchObject({ isError: false });
      await seal(agent);
      expect((await call(agent, 'server_health', {})).data).toMatchObject(refused);
    },
  );

  promiseTest('key/none', 'server_health says at once that a server has no key, or which one it has', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const without = await project.openAgent('alice', { ...project.env, COLIBRI_KEY_PATH: 'none' });
    expect((await call(without, 'server_health', {})).data).toMatchObject({
      status: 'ok',
      problems: [],
      signing: { state: 'off', reason: expect.stringContaining('this user has no signing key') as string },
    });
    const before = await project.openAgent('bob', project.env);
    expect((await call(before, 'server_health', {})).data).toMatchObject({ status: 'ok', signing: { state: 'on' } });
    expect(existsSync(project.key), 'health creates no key').toBe(false);
    await project.checkpoint();
    const { stdout: key } = await project.colibri('key');
    expect((await call(before, 'server_health', {})).data).toMatchObject({ signing: { state: 'on', key: key.trim() } });
  });

  promiseTest('key/rotation', 'a server that runs meanwhile signs with the new key', async () => {
    const project = new SigningProject();
    await project.withAgent(async (agent) => {
      await call(agent, 'task_create', { title: 'one' });
      await seal(agent);
      await vi.waitFor(() => expect(project.remembered()).toHaveLength(1), { timeout: 30_000 });
      expect(await project.colibri('key', 'rotate')).toMatchObject({ status: 0 });
      await seal(agent, 'A-0002');
      const { stdout: key } = await project.colibri('key');
      await vi.waitFor(() => verifyCheckpoint(project.remembered()[0] ?? '', { log: [parseVerifierKey(key.trim())] }), {
        timeout: 30_000,
      });
      const { data } = await call(agent, 'server_health', {});
      expect(data).toMatchObject({ status: 'ok', signing: { state: 'on', key: key.trim() } });
    });
    expect(await project.colibri('verify')).toMatchObject({ status: 0 });
  });

  promiseTest('key/rotation', 'a mode that does not write refuses it, and leaves no other key behind', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const { stdout: key } = await project.colibri('key');
    const files = readdirSync(join(project.config, 'colibri'));
    for (const mode of ['READONLY', 'MINIMAL'])
      expect(await project.runWith({ env: { ...project.env, COLIBRI_MODE: mode } }, 'key', 'rotate')).toMatchObject({
        status: 1,
        stderr: `colibri key: ${mode} mode changes no ledger; set COLIBRI_MODE=FULL, or unset it\n`,
      });
    expect(readdirSync(join(project.config, 'colibri'))).toEqual(files);
    expect(await project.colibri('key')).toMatchObject({ status: 0, stdout: key });
  });

  promiseTest('key/rotation', 'the old key signs no more, the old checkpoints still hold', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const before = await project.checkpoint();
    const { stdout: oldKey } = await project.colibri('key');
    expect(await project.colibri('key', 'rotate')).toMatchObject({ status: 0 });
    const { stdout: newKey } = await project.colibri('key');
    expect(newKey).not.toBe(oldKey);
    const after = await project.checkpoint();
    expect(verifyCheckpoint(after, { log: [parseVerifierKey(newKey.trim())] }).size).toBeGreaterThan(
      parseCheckpoint(before).size,
    );
    expect(() => verifyCheckpoint(after, { log: [parseVerifierKey(oldKey.trim())] })).toThrow('none of the given keys');
    expect(await project.colibri('checkpoint', '--check', write(project, before))).toMatchObject({ status: 0 });
    expect(await project.colibri('verify')).toMatchObject({ status: 0 });
    const kept = readdirSync(join(project.config, 'colibri')).find((name) => name.endsWith('.replaced')) ?? '';
    const env = { ...project.env, COLIBRI_KEY_PATH: join(project.config, 'colibri', kept) };
    expect(await project.runWith({ env }, 'checkpoint')).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('another key has replaced this one') as string,
    });
    expect(await project.colibri('key', 'turn')).toMatchObject({ status: 3 });
  });
});
