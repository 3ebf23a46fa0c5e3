import { describe, expect } from 'vitest';
import { connectRaw, type RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, queryFile, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

const DEPTH = 100_000;
const BOMB = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
const FIVE_MEGABYTES = 'x'.repeat(5 * 1024 * 1024);

/** Each line, and the code of the error that answers it. */
const REFUSED: readonly (readonly [name: string, line: string | Buffer, code: number])[] = [
  ['garbage', 'GET / HTTP/1.1', -32700],
  ['an unfinished object', '{"jsonrpc":"2.0","id":7', -32700],
  ['a number too many', '{} 1', -32700],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), -32700],
  ['null', 'null', -32600],
  ['a batch', '[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600],
  ['another version of the protocol', '{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600],
  ['a method that is not text', '{"jsonrpc":"2.0","id":7,"method":7}', -32600],
  ['neither request nor answer', '{"jsonrpc":"2.0","id":7}', -32600],
  ['request and answer at once', '{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}', -32600],
  ['parameters in a list', '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}', -32600],
  ['no parameters but null', '{"jsonrpc":"2.0","id":7,"method":"ping","params":null}', -32600],
  ['metadata that is a number', '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":5}}', -32600],
  ['a progress token that is an object', request('ping', '{"_meta":{"progressToken":{}}}'), -32600],
  ['a line of five megabytes', request('tools/call', `{"name":"${FIVE_MEGABYTES}"}`), -32600],
  ['five megabytes of nothing', FIVE_MEGABYTES, -32600],
  ['a tool without a name', request('tools/call', '{}'), -32602],
  ['a tool name that is a number', request('tools/call', '{"name":5}'), -32602],
  ['metadata of a call in a list', request('tools/call', '{"name":"server_ping","_meta":[]}'), -32602],
  ['a fraction as progress token', request('tools/call', '{"name":"x","_meta":{"progressToken":0.5}}'), -32602],
  ['an unknown tool', request('tools/call', '{"name":"rm_rf"}'), -32602],
  ['an unknown method', request('rm/rf', '{}'), -32601],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
  ['an id that is a bomb', `{"jsonrpc":"2.0","id":${BOMB},"method":"ping"}`, -32600],
];

const ARGUMENTS: readonly (readonly [name: string, json: string, message: RegExp])[] = [
  ['a list', '[1]', /arguments must be an object/],
  ['null', 'null', /arguments must be an object/],
  ['a bomb that is a list', BOMB, /arguments must be an object/],
  ['a JSON bomb', `{"a":${BOMB}}`, /nested deeper/],
  ['half a surrogate pair', '{"a":"\\ud83d"}', /surrogate/],
  ['half a surrogate pair in a key', '{"\\ud83d":1}', /surrogate/],
  ['an integer that JSON readers round', '{"a":9007199254740993}', /2\^53/],
  ['a number that overflows', '{"a":1e999}', /finite/],
  ['half a surrogate pair below a very long key', `{"${'k'.repeat(100_000)}":"\\ud83d"}`, /surrogate/],
  ['thousands of unknown keys', `{${Array.from({ length: 5000 }, (_, n) => `"k${n}":${n}`).join()}}`, /4997 more/],
];

describe('bad input', () => {
  promiseTest('process/bad-input', 'every kind of invalid message, one after another', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    for (const [round, [name, line, code]] of REFUSED.entries()) {
      client.program.child.stdin?.write(line);
      client.sendText('\n');
      const refusal = await client.next(({ error }) => error !== undefined, round);
      expect([name, refusal.error?.code]).toEqual([name, code]);
      expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL' });
    }
    await expectWorking(client, cwd);
  });

  promiseTest('process/bad-input', 'arguments without a canonical form, one after another', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    for (const [name, json, message] of ARGUMENTS) {
      const params = `{"name":"server_ping","arguments":${json}}`;
      client.sendText(`${request('tools/call', params).replace('"id":7', `"id":"${name}"`)}\n`);
      const { result } = await client.answerTo(name);
      expect([name, result]).toMatchObject([name, { structuredContent: { error: { code: 'INVALID_PARAMS' } } }]);
      expect(JSON.stringify(result)).toMatch(message);
    }
    await expectWorking(client, cwd);
    const calls = await listCalls(ledgerIn(cwd));
    expect(calls.filter(({ outcome }) => outcome === 'INVALID_PARAMS')).toHaveLength(ARGUMENTS.length);
    const longest = await queryFile<{ n: number }>(ledgerIn(cwd), 'SELECT MAX(length(arguments)) AS n FROM calls');
    expect(longest[0]?.n).toBeLessThan(10_000);
  });

  promiseTest('process/bad-input', 'more invalid requests than may be pending', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    for (let id = 1000; id < 1300; id += 1) client.send({ jsonrpc: '2.0', id, method: 7 });
    expect(await client.answerTo(1299)).toMatchObject({ error: { code: -32600 } });
    await expectWorking(client, cwd);
  });

  promiseTest('process/bad-input', 'a message split into chunks, and many messages in one chunk', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    const line = `${request('tools/call', '{"name":"server_ping","arguments":{}}')}\n`;
    for (const byte of Buffer.from(line)) client.program.child.stdin?.write(Buffer.of(byte));
    await client.answerTo(7);
    client.sendText(Array.from({ length: 400 }, (_, n) => line.replace('"id":7', `"id":"n${n}"`)).join('\r\n\n'));
    await client.answerTo('n399');
    await expectWorking(client, cwd);
    expect(await listCalls(ledgerIn(cwd))).toHaveLength(402);
  });

  promiseTest('process/bad-input', 'half a line at the end of the input', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    client.sendText('{"jsonrpc":"2.0","id":7,"method":"tools/call"');
    expect(await client.end()).toEqual({ code: 0, signal: null });
    expect(client.program.errorLines().join('\n')).toContain('in the middle of a message');
    await verifyFile(ledgerIn(cwd));
  });

  promiseTest('process/bad-input', 'a client that stops reading', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    client.program.child.stdout?.destroy();
    client.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'server_ping', arguments: {} } });
    expect(await client.program.exit).toEqual({ code: 0, signal: null });
    expect(client.program.errorLines().join('\n')).toContain('EPIPE');
    expect((await listCalls(ledgerIn(cwd))).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    await verifyFile(ledgerIn(cwd));
  });
});

function request(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
}

async function expectWorking(client: RawClient, cwd: string): Promise<void> {
  expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
  expect(await client.end()).toEqual({ code: 0, signal: null });
  await verifyFile(ledgerIn(cwd));
}
