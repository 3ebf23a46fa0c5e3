import { realpathSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { connectClient, GENERATIONS } from '../support/clients/client-processes.ts';
import { connectRaw, startPortProcess } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('the built program', () => {
  promiseTest('process/at-once', 'while another process holds the write lock', async () => {
    const cwd = tempFolder();
    await (await connectRaw({ cwd })).end();
    const other = await startPortProcess(ledgerIn(cwd));
    other.send('hold');
    await other.expectLine('held');
    const client = await connectRaw({ cwd });
    expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL' });
    const { result } = await client.request('tools/list');
    expect(result?.['tools']).toBeInstanceOf(Array);
    const health = client.data('server_health');
    expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL' });
    other.send('release');
    expect(await health).toMatchObject({ status: 'ok', phase: 'ready' });
    expect(await client.end()).toEqual({ code: 0, signal: null });
    const calls = await listCalls(ledgerIn(cwd));
    expect(calls.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual([
      'server_ping ok',
      'server_ping ok',
      'server_health ok',
    ]);
    await verifyFile(ledgerIn(cwd));
  });

  for (const generation of GENERATIONS) {
    promiseTest('process/generations', generation, async () => {
      const cwd = tempFolder();
      const client = await connectClient(generation, { cwd });
      expect(client.instructions()).toContain('flight recorder');
      expect(await client.listTools()).toEqual(expect.arrayContaining(['server_ping', 'server_health']));
      const ping = await client.call('server_ping');
      expect(ping.structuredContent).toMatchObject({ ok: true, data: { mode: 'FULL' } });
      const refused = await client.call('server_ping', { unknown: 1 });
      expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'INVALID_PARAMS' } } });
      await expect(client.call('no_such_tool')).rejects.toThrow(/no_such_tool/);
      await client.close();
      const calls = await listCalls(ledgerIn(cwd));
      expect(calls.map(({ tool, actor, outcome }) => [tool, actor, outcome])).toEqual([
        ['server_ping', 'test-client', 'ok'],
        ['server_ping', 'test-client', 'INVALID_PARAMS'],
        ['no_such_tool', 'test-client', 'UNKNOWN_TOOL'],
      ]);
      await verifyFile(ledgerIn(cwd));
    });
  }

  promiseTest('process/health', 'size and root match the file, the other fields match the process', async () => {
    const cwd = realpathSync(tempFolder());
    const client = await connectRaw({ cwd, env: { COLIBRI_DURABILITY: 'relaxed' } });
    for (let call = 0; call < 20; call += 1) await client.data('server_ping');
    const health = await client.data('server_health');
    // Between the two entries of the call that asked.
    expect(health['ledger']).toMatchObject({ size: 1 + 2 * 20 + 1 });
    expect(health).toMatchObject({
      status: 'ok',
      problems: [],
      mode: 'FULL',
      phase: 'ready',
      capabilities: ['ledger.read', 'ledger.write'],
      db: { open: true, engine: 'sqlite', user_version: SCHEMA_VERSION, path: ledgerIn(cwd), durability: 'relaxed' },
      middleware: { stages: ['tool-lock', 'validate', 'audit-enter', 'dispatch', 'audit-exit'] },
      process: { pid: client.program.child.pid, node: process.versions.node },
    });
    await client.end();
    const after = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY' } });
    const { size, root } = await verifyFile(ledgerIn(cwd));
    expect((await after.data('server_health'))['ledger']).toEqual({ size, root });
    expect(size).toBe(1 + 2 * 21);
  });
});
