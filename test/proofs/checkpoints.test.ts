import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { isIncluded, parseCheckpoint, parseVerifierKey, verifyCheckpoint } from '../../src/integrity/index.ts';
import { StoredTree } from '../../src/ledger/stored-tree.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { listSpool, writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, toSpooled } from '../../src/recorder/spooled-event.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { receiptOf, SigningProject, seal, write } from './support.ts';

describe('checkpoints', () => {
  promiseTest('checkpoint/signed', 'when a server stops, and by a key that the log introduces', async () => {
    const project = new SigningProject();
    await project.withAgent((agent) => call(agent, 'task_create', { title: 'one' }));
    const [text = ''] = project.remembered();
    const { stdout: key } = await project.colibri('key');
    expect(verifyCheckpoint(text, { log: [parseVerifierKey(key.trim())] })).toMatchObject({ size: 5 });
    expect(await project.colibri('verify')).toMatchObject({ status: 0 });
    expect(statSync(project.key).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(project.folder, '.colibri', 'colibri.db'), 'latin1')).toContain('"kind":"key.added"');
  });

  promiseTest('checkpoint/signed', 'after the first change of a log, while the server runs', async () => {
    const project = new SigningProject();
    await project.withAgent(async (agent) => {
      await call(agent, 'task_create', { title: 'one' });
      await vi.waitFor(() => expect(project.remembered()).toHaveLength(1), 30_000);
      expect(parseCheckpoint(project.remembered()[0] ?? '').size).toBe(5);
    });
  });

  promiseTest('checkpoint/signed', 'when a server stops, over its refused calls and reads, too', async () => {
    const project = new SigningProject();
    await project.withAgent((agent) => call(agent, 'task_create', { title: 'one' }));
    await project.withAgent(async (agent) => {
      await call(agent, 'task_list', {});
      expect(await call(agent, 'task_update', { task_id: 'T-0001', status: 'done' })).toMatchObject({ isError: true });
    });
    expect(parseCheckpoint(project.remembered()[0] ?? '').size).toBe(9);
  });

  promiseTest('checkpoint/signed', 'after colibri seal, and not after other commands', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    await project.colibri('note', 't-1', 'why');
    expect(project.remembered()).toEqual([]);
    expect(await project.colibri('seal', 't-1')).toMatchObject({ status: 0 });
    const [text = ''] = project.remembered();
    const { stdout: key } = await project.colibri('key');
    expect(verifyCheckpoint(text, { log: [parseVerifierKey(key.trim())] }).size).toBe(14);
  });

  promiseTest('checkpoint/signed', 'a server that changed nothing does not sign a log for the first time', async () => {
    const project = new SigningProject();
    await project.withAgent((agent) => call(agent, 'server_ping', {}));
    expect(project.remembered()).toEqual([]);
    expect(existsSync(project.key)).toBe(false);
  });

  promiseTest(
    'checkpoint/signed',
    'after a sealed session, while the server runs, which server_health shows',
    async () => {
      const project = new SigningProject();
      await project.withAgent(async (agent) => {
        await call(agent, 'task_create', { title: 'one' });
        // The first change of the log was signed by then, the seal is not yet.
        expect(await seal(agent)).toMatchObject({ checkpoint: { covers_seal: false } });
        // The server signs in the background.
        const sealed = await vi.waitFor(async () => {
          const { data } = await call(agent, 'merkle_root', { session_id: 'A-0001' });
          expect(data).toMatchObject({ checkpoint: { covers_seal: true } });
          return data;
        }, 5000);
        const { data: health } = await call(agent, 'server_health', {});
        const { signing } = health as { signing: { state: string; key: string; checkpoint: string } };
        expect(signing).toMatchObject({ state: 'on', key: expect.stringContaining('colibri/') as string });
        expect(project.remembered()).toEqual([signing.checkpoint]);
        const { size, root } = parseCheckpoint(signing.checkpoint);
        expect(sealed).toMatchObject({ checkpoint: { size, root, covers_seal: true } });
        const { stdout } = await project.colibri('checkpoint', '--check', write(project, signing.checkpoint));
        expect(stdout).toContain('extends the checkpoint');
      });
    },
  );

  promiseTest(
    'checkpoint/receipt',
    'the entry that the receipt names is in the log, under the signed root',
    async () => {
      const project = new SigningProject();
      const receipt = await project.withAgent(async (agent) => {
        const { _meta } = await agent.callTool({ name: 'task_create', arguments: { title: 'one' } });
        const read = await agent.callTool({ name: 'task_get', arguments: { task_id: 'T-0001' } });
        expect(read._meta?.['colibri/receipt']).toBeUndefined();
        return receiptOf(_meta);
      });
      const { size, root } = parseCheckpoint(await project.checkpoint());
      const database = await openSqlite({
        path: project.ledger,
        readOnly: true,
        durability: 'full',
        busyTimeoutMs: 1000,
      });
      const proof = await database.read((reader) => new StoredTree(reader, size).inclusionProof(receipt.index));
      await database.close();
      expect(isIncluded({ ...receipt, size, root, proof })).toBe(true);
      const [again] = await project.withAgent(async (agent) => {
        const { _meta } = await agent.callTool({ name: 'task_create', arguments: { title: 'two' } });
        return [receiptOf(_meta)];
      });
      expect(parseCheckpoint(again?.checkpoint ?? '').root).toBe(root);
    },
  );

  promiseTest(
    'checkpoint/extends',
    'a checkpoint of this log, of another log, of another history, forged, or none',
    async () => {
      const project = new SigningProject();
      await project.colibri('add', 'one');
      const first = await project.checkpoint();
      await project.colibri('add', 'two');
      const check = (text: string) => project.colibri('checkpoint', '--check', write(project, text), '--json');
      expect(await check(first)).toMatchObject({ status: 0 });
      const other = new SigningProject();
      await other.colibri('add', 'one');
      const foreign = await other.checkpoint();
      const { stdout: foreignKey } = await other.colibri('key');
      expect(await check(foreign)).toMatchObject({
        status: 3,
        stdout: expect.stringContaining('none of the given keys') as string,
      });
      expect(
        await project.colibri('checkpoint', '--check', write(project, foreign), '--key', foreignKey.trim(), '--json'),
      ).toMatchObject({ status: 1, stdout: expect.stringContaining('another log') as string });
      for (const forged of [first.replace(/\n\d+\n/, '\n1\n'), first.replace(/ (.)[^ ]*\n$/, ' $1\n'), 'none', ''])
        expect(await check(forged)).toMatchObject({ status: 3 });
      expect(await project.colibri('checkpoint', '--check', project.path('missing'))).toMatchObject({ status: 3 });
      if (existsSync('/dev/zero'))
        expect(await project.colibri('checkpoint', '--check', '/dev/zero')).toMatchObject({
          status: 3,
          stderr: expect.stringContaining('larger than') as string,
        });
    },
  );

  promiseTest('checkpoint/extends', 'a log that is signed again while verify reads it', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const before = await project.checkpoint();
    const hook = project.path('sign.cjs');
    writeFileSync(hook, SIGN_MEANWHILE);
    const env = { ...project.env, NODE_OPTIONS: `--require ${hook}` };
    expect(await project.runWith({ env }, 'verify')).toMatchObject({ status: 0 });
    const [newest = ''] = project.remembered();
    expect(parseCheckpoint(newest).size).toBeGreaterThan(parseCheckpoint(before).size);
  });

  promiseTest(
    'checkpoint/rollback',
    'a restored backup: reads work, writes are refused, verify, health and doctor say why',
    async () => {
      const project = new SigningProject();
      await project.colibri('add', 'one');
      await project.checkpoint();
      const saved = project.save();
      await project.colibri('add', 'two');
      const { origin } = parseCheckpoint(await project.checkpoint());
      project.rollBackTo(saved);
      await project.withAgent(async (agent) => {
        expect(await call(agent, 'task_get', { task_id: 'T-0001' })).toMatchObject({ isError: false });
        expect(await call(agent, 'task_create', { title: 'no' })).toMatchObject({
          isError: true,
          text: expect.stringContaining('ERR_LOG_ROLLBACK') as string,
        });
        const { data } = await call(agent, 'server_health', {});
        expect(data).toMatchObject({ status: 'degraded', mode: 'READONLY', problems: [{ code: 'ERR_LOG_ROLLBACK' }] });
      });
      expect(await project.colibri('verify')).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('\nWhat to do: restore the newest backup, or run colibri continue') as string,
      });
      for (const args of [['checkpoint'], ['export', '--all', '--out', project.path('rolled-back')], ['prove', '3']])
        expect(await project.colibri(...args), args[0]).toMatchObject({ status: 1 });
      expect(await project.colibri('add', 'three')).toMatchObject({
        stderr: expect.stringContaining('colibri continue') as string,
      });
      expect(await project.colibri('doctor')).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(
          /^fail ledger +the log has 5 entries, but a checkpoint over 8 was signed$/m,
        ) as string,
      });
      // Another user has signed nothing, so nothing tells that user of the change.
      expect(
        await project.runWith({ env: { ...project.env, XDG_CONFIG_HOME: project.path('else') } }, 'verify'),
      ).toMatchObject({ status: 0 });

      expect(await project.colibri('continue')).toMatchObject({ status: 1 });
      expect(await project.colibri('continue', '--yes')).toMatchObject({ status: 0 });
      expect(await project.colibri('verify')).toMatchObject({ status: 0 });
      expect(await project.colibri('add', 'three')).toMatchObject({ status: 0 });
      expect(parseCheckpoint(await project.checkpoint()).origin).not.toBe(origin);
      const key = (await project.colibri('key')).stdout.trim();
      await project.colibri('export', '--task', 'T-0001', '--out', project.path('continued'));
      const continued = await project.colibri('verify', project.path('continued'), '--key', key);
      expect(continued.stdout).toContain(`unknown this log continues the first 5 entries of ${origin}`);
      expect(await project.colibri('verify')).toMatchObject({ status: 0 });
    },
  );

  promiseTest(
    'checkpoint/rollback',
    'a server that finds it while it runs adds neither calls nor events to the log',
    async () => {
      const project = new SigningProject();
      await project.withAgent(async (agent) => {
        await call(agent, 'task_create', { title: 'one' });
        // Of the first change: no other signature is due before the seal, which finds another checkpoint than this one.
        const [signed = ''] = await vi.waitFor(
          () => {
            expect(project.remembered()).toHaveLength(1);
            return project.remembered();
          },
          { timeout: 30_000 },
        );
        project.remember(signed, 999);
        await seal(agent);
        const readHealth = async () => (await call(agent, 'server_health', {})).data as { ledger: { size: number } };
        const rolledBack = await vi.waitFor(
          async () => {
            const health = await readHealth();
            expect(health).toMatchObject({ mode: 'READONLY', problems: [{ code: 'ERR_LOG_ROLLBACK' }] });
            return health;
          },
          { timeout: 30_000 },
        );
        const spool = join(project.folder, '.colibri', 'spool');
        const event = { session_id: 's', hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c' };
        const at = new Date();
        const spooled = toSpooled(toEvent(event, {}), { at, salt: 'ab'.repeat(16), level: 'excerpts' });
        writeToSpool(spool, encodeSpooled(spooled), { at, isDurable: false });
        expect(await call(agent, 'task_get', { task_id: 'T-0001' })).toMatchObject({ isError: false });
        expect((await readHealth()).ledger.size).toBe(rolledBack.ledger.size);
        expect(listSpool(spool)).toHaveLength(1);
        renameSync(project.ledger, project.path('moved.db'));
        expect(await call(agent, 'task_get', { task_id: 'T-0001' })).toMatchObject({
          isError: true,
          text: expect.stringContaining('deleted or replaced') as string,
        });
        renameSync(project.path('moved.db'), project.ledger);
      });
      expect(await project.colibri('verify')).toMatchObject({ status: 1 });
    },
  );

  promiseTest(
    'checkpoint/continue',
    'at sizes around a block of the tree; a log that was not rolled back is left alone',
    async () => {
      for (const tasks of [1, 5, 6, 12]) {
        const project = new SigningProject();
        await project.withAgent(async (agent) => {
          for (let count = 0; count < tasks; count += 1) await call(agent, 'task_create', { title: `${count}` });
        });
        expect(await project.colibri('continue', '--yes')).toMatchObject({ status: 1 });
        const saved = project.save();
        await project.colibri('add', 'more');
        await project.checkpoint();
        project.rollBackTo(saved);
        expect(await project.colibri('continue', '--yes')).toMatchObject({ status: 0 });
        expect(await project.colibri('verify'), `${tasks}`).toMatchObject({ status: 0 });
      }
    },
  );
});

/** Another process of the same user adds a task and signs, when this one looks up what was signed last. */
const SIGN_MEANWHILE = `
  const fs = require('node:fs');
  const { execFileSync } = require('node:child_process');
  const { readdirSync } = fs;
  const { NODE_OPTIONS, ...env } = process.env;
  fs.readdirSync = (folder, ...rest) => {
    if (String(folder).includes('checkpoints')) {
      fs.readdirSync = readdirSync;
      for (const args of [['add', 'two'], ['checkpoint']]) execFileSync(process.execPath, [process.argv[1], ...args], { env });
    }
    return readdirSync(folder, ...rest);
  };
  require('node:module').syncBuiltinESMExports();`;
