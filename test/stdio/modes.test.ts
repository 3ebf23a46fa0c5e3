import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('the built program in each mode', () => {
  promiseTest('process/modes', 'FULL records every call in a file that only the owner can read', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    const folder = dirname(ledgerIn(cwd));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(folder)) {
      expect([file, statSync(`${folder}/${file}`).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(readFileSync(`${folder}/.gitignore`, 'utf8')).toBe('*\n');
    await client.end();
    expect(await listCalls(ledgerIn(cwd))).toMatchObject([{ tool: 'server_health', actor: 'raw', outcome: 'ok' }]);
    await verifyFile(ledgerIn(cwd));
  });

  promiseTest('process/modes', 'a subfolder of a repository uses the ledger of the repository', async () => {
    const root = tempFolder();
    const subfolder = `${root}/packages/one`;
    mkdirSync(`${root}/.git`);
    mkdirSync(subfolder, { recursive: true });
    for (const cwd of [root, subfolder]) {
      const client = await connectRaw({ cwd });
      expect(await client.data('server_health')).toMatchObject({ db: { path: ledgerIn(root) } });
      await client.end();
    }
    expect(existsSync(ledgerIn(subfolder))).toBe(false);
    expect(await listCalls(ledgerIn(root))).toHaveLength(2);
    await verifyFile(ledgerIn(root));
  });

  promiseTest('process/modes', 'a folder outside a repository has its own ledger', async () => {
    const root = tempFolder();
    const subfolder = `${root}/one`;
    mkdirSync(subfolder);
    for (const cwd of [root, subfolder]) {
      const client = await connectRaw({ cwd });
      expect(await client.data('server_health')).toMatchObject({ db: { path: ledgerIn(cwd) } });
      await client.end();
    }
  });

  promiseTest('process/modes', 'READONLY does not change a byte of the file and logs calls to stderr', async () => {
    const cwd = tempFolder();
    const writer = await connectRaw({ cwd });
    await writer.data('server_health');
    await writer.end();
    const before = readFileSync(ledgerIn(cwd));
    const reader = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY', COLIBRI_AGENT_ID: 'auditor' } });
    const { size, root } = await verifyFile(ledgerIn(cwd));
    expect(await reader.data('server_health')).toMatchObject({
      status: 'ok',
      mode: 'READONLY',
      capabilities: ['ledger.read'],
      ledger: { size, root },
      tools: { registered: 9 },
    });
    expect(await reader.logLine('action.enter')).toMatchObject({ tool: 'server_health', actor: 'auditor' });
    expect(await reader.logLine('action.exit')).toMatchObject({ tool: 'server_health', outcome: 'ok' });
    expect(await reader.end()).toEqual({ code: 0, signal: null });
    expect(readFileSync(ledgerIn(cwd))).toEqual(before);
  });

  promiseTest('process/modes', 'READONLY sees what a FULL server adds', async () => {
    const cwd = tempFolder();
    const writer = await connectRaw({ cwd });
    await writer.data('server_health');
    const reader = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY' } });
    expect((await reader.data('server_health'))['ledger']).toMatchObject({ size: 3 });
    await writer.data('server_ping');
    expect((await reader.data('server_health'))['ledger']).toMatchObject({ size: 5 });
    await reader.end();
    await writer.data('server_ping');
    await writer.end();
    expect((await verifyFile(ledgerIn(cwd))).size).toBe(7);
  });

  promiseTest('process/modes', 'READONLY creates no ledger and reports how to create one', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY' } });
    const { problems } = (await client.data('server_health')) as { problems: unknown };
    expect(problems).toMatchObject([{ message: expect.stringMatching(/no ledger at .*in FULL mode/) }]);
    await client.end();
    expect(readdirSync(cwd)).toEqual([]);
  });

  promiseTest('process/modes', 'TEST deletes its file on exit', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd, env: { COLIBRI_MODE: 'TEST' } });
    const health = (await client.data('server_health')) as { db: { path: string }; status: string };
    expect(health.status).toBe('ok');
    expect(existsSync(health.db.path)).toBe(true);
    await client.end();
    expect(existsSync(dirname(health.db.path))).toBe(false);
    expect(readdirSync(cwd)).toEqual([]);
  });

  promiseTest('process/modes', 'TEST keeps a file that COLIBRI_DB_PATH names', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd, env: { COLIBRI_MODE: 'TEST', COLIBRI_DB_PATH: 'named.db' } });
    await client.data('server_health');
    await client.end();
    expect(readdirSync(cwd)).toEqual(['named.db']);
    await verifyFile(`${cwd}/named.db`);
  });

  promiseTest('process/modes', 'MINIMAL opens no file', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd, env: { COLIBRI_MODE: 'MINIMAL' } });
    const health = await client.data('server_health');
    expect(health).toMatchObject({ status: 'ok', mode: 'MINIMAL', capabilities: [], db: { open: false } });
    expect(health).toMatchObject({ tools: { registered: 2 } });
    expect(health).not.toHaveProperty('ledger');
    expect(await client.logLine('action.exit')).toMatchObject({ tool: 'server_health', outcome: 'ok' });
    await client.end();
    expect(readdirSync(cwd)).toEqual([]);
  });
});
