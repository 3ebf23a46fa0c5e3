import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw, RawClient, startPortProcess } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

const CLEAN_EXIT = { code: 0, signal: null };

describe('shutting down', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    promiseTest('process/shutdown', `${signal} while a call waits for the ledger`, async () => {
      const cwd = tempFolder();
      const client = await connectRaw({ cwd });
      await client.data('server_health');
      const other = await startPortProcess(ledgerIn(cwd));
      other.send('hold');
      await other.expectLine('held');
      const inFlight = client.data('server_health');
      // An answer after the call was sent shows that it has been read.
      await client.request('ping');
      client.program.child.kill(signal);
      expect(await client.logLine('stopping')).toMatchObject({ reason: signal });
      other.send('release');
      await other.expectLine('done hold');
      expect(await inFlight).toMatchObject({ status: 'ok' });
      expect(await client.program.exit).toEqual(CLEAN_EXIT);
      await other.run('close');
      expectCleanFolder(cwd);
      expect((await listCalls(ledgerIn(cwd))).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
      await verifyFile(ledgerIn(cwd));
    });
  }

  promiseTest('process/shutdown', 'end of input, after every earlier request is answered', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    const answers = Array.from({ length: 50 }, () => client.data('server_ping'));
    expect(await client.end()).toEqual(CLEAN_EXIT);
    expect(await Promise.all(answers)).toHaveLength(50);
    expectCleanFolder(cwd);
    const calls = await listCalls(ledgerIn(cwd));
    expect(calls.filter(({ outcome }) => outcome === 'ok')).toHaveLength(50);
    await verifyFile(ledgerIn(cwd));
  });

  promiseTest('process/shutdown', 'end of input before the first request', async () => {
    const cwd = tempFolder();
    expect(await new RawClient({ cwd }).end()).toEqual(CLEAN_EXIT);
    expectCleanFolder(cwd);
    await verifyFile(ledgerIn(cwd));
  });

  promiseTest('process/shutdown', 'a signal during startup removes the temporary folder', async () => {
    const cwd = tempFolder();
    const temporary = tempFolder();
    const client = new RawClient({ cwd, env: { COLIBRI_MODE: 'TEST', TMPDIR: temporary } });
    client.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(await client.end()).toEqual(CLEAN_EXIT);
    // Newer versions of Node keep compiled programs there.
    expect(readdirSync(temporary).filter((name) => name.startsWith('colibri'))).toEqual([]);
  });

  promiseTest('process/shutdown', 'a second signal changes nothing', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    client.program.child.kill('SIGTERM');
    client.program.child.kill('SIGINT');
    expect(await client.end()).toEqual(CLEAN_EXIT);
    expect(client.program.errorLines().filter((line) => line.includes('"stopping"'))).toHaveLength(1);
    expectCleanFolder(cwd);
  });

  promiseTest('process/shutdown', 'end of input after cancelled and invalid requests', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    const other = await startPortProcess(ledgerIn(cwd));
    other.send('hold');
    await other.expectLine('held');
    const gone = { jsonrpc: '2.0', id: 'gone', method: 'tools/call', params: { name: 'server_ping', arguments: {} } };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } };
    // One write: the server reads both before the call can begin, and drops it.
    client.sendText(`${JSON.stringify(gone)}\n${JSON.stringify(cancel)}\n`);
    for (const id of [null, {}, 1.5, true]) client.send({ jsonrpc: '2.0', id, method: 'ping' });
    const ended = client.end();
    other.send('release');
    await other.expectLine('done hold');
    expect(await ended).toEqual(CLEAN_EXIT);
    await other.run('close');
    expect(client.program.errorLines().some((line) => line.includes('"stopping"'))).toBe(true);
    expectCleanFolder(cwd);
    expect((await listCalls(ledgerIn(cwd))).map(({ tool }) => tool)).toEqual(['server_health']);
    await verifyFile(ledgerIn(cwd));
  });
});

/** The write-ahead log was checkpointed, and no process counts as alive. */
function expectCleanFolder(cwd: string): void {
  const folder = dirname(ledgerIn(cwd));
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual(['.gitignore', 'colibri.db']);
}
