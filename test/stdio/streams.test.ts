import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('the two output streams', () => {
  for (const mode of ['FULL', 'READONLY', 'TEST', 'MINIMAL']) {
    promiseTest(
      'process/streams',
      `in ${mode} mode, with good and bad calls, at the most talkative level`,
      async () => {
        const cwd = tempFolder();
        const client = await connectRaw({ cwd, env: { COLIBRI_MODE: mode, COLIBRI_LOG_LEVEL: 'debug' } });
        await client.request('tools/list');
        await client.call('server_health');
        await client.call('server_ping', { unknown: '🐦' });
        await client.request('tools/call', { name: 'no_such_tool' });
        await client.request('no/such/method');
        client.sendText('garbage\n[]\n\n{"jsonrpc":"2.0","id":99,"method":7}\n');
        await client.answerTo(99);
        expect(await client.end()).toEqual({ code: 0, signal: null });
        for (const line of client.program.outLines()) {
          expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
        }
        const log = client.program.errorLines().map((line) => JSON.parse(line) as unknown);
        expect(log.length).toBeGreaterThan(2);
        for (const line of log) {
          expect(line).toMatchObject({ at: expect.any(String), level: expect.any(String), event: expect.any(String) });
        }
        if (mode === 'FULL') await verifyFile(ledgerIn(cwd));
      },
    );
  }

  promiseTest('process/streams', 'log level error prints nothing for successful calls', async () => {
    const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_LOG_LEVEL: 'error' } });
    await client.data('server_health');
    await client.end();
    expect(client.program.errorLines()).toEqual([]);
  });
});
