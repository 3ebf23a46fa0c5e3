import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw, RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

const READ = { uri: 'colibri://brief' };

describe('resources and prompts in each mode', () => {
  promiseTest('brief/resources', 'the handshake announces them', async () => {
    const client = new RawClient({ cwd: tempFolder() });
    expect((await client.initialize()).result).toMatchObject({
      capabilities: { tools: {}, resources: {}, prompts: {} },
    });
    await client.end();
  });

  promiseTest('brief/resources', 'READONLY reads them', async () => {
    const cwd = tempFolder();
    const writer = await connectRaw({ cwd });
    await writer.call('task_create', { title: 'Parse dates', status: 'todo' });
    await writer.end();
    const reader = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY', COLIBRI_AGENT_ID: 'reviewer' } });
    expect((await reader.request('resources/read', READ)).result).toMatchObject({
      contents: [{ text: expect.stringContaining('Last changes:\n- T-0001 todo, by raw: Parse dates') }],
    });
    await reader.end();
    expect((await verifyFile(ledgerIn(cwd))).size).toBe(4);
  });

  promiseTest('brief/refusals', 'MINIMAL lists none and reads none', async () => {
    const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_MODE: 'MINIMAL' } });
    for (const [method, list] of [
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
      ['prompts/list', 'prompts'],
    ] as const)
      expect((await client.request(method)).result).toMatchObject({ [list]: [] });
    await expectNotOpen(client);
    await client.end();
  });

  promiseTest('brief/refusals', 'a server without its ledger refuses, and names server_health', async () => {
    const cwd = tempFolder();
    writeFileSync(dirname(ledgerIn(cwd)), 'not a folder');
    const client = await connectRaw({ cwd });
    await expectNotOpen(client);
    expect(await client.data('server_health')).toMatchObject({ status: 'degraded' });
    await client.end();
  });

  promiseTest('brief/resources', 'a read that arrives with the end of the input is answered', async () => {
    const client = await connectRaw({ cwd: tempFolder() });
    const read = client.request('resources/read', READ);
    expect(await client.end()).toEqual({ code: 0, signal: null });
    expect((await read).result).toHaveProperty('contents');
  });
});

async function expectNotOpen(client: RawClient): Promise<void> {
  const message = expect.stringMatching(/the ledger is not open; call server_health/) as string;
  expect((await client.request('resources/read', READ)).error).toMatchObject({ code: -32603, message });
  expect((await client.request('prompts/get', { name: 'brief' })).error).toMatchObject({ code: -32603, message });
}
