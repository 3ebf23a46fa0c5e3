import { Readable, Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { StdioTransport } from '../../src/wire/stdio.ts';
import { type FuzzTarget, promise } from './target.ts';

const REFUSALS: ReadonlySet<unknown> = new Set([-32_700, -32_600]);

interface Exchange {
  readonly received: unknown[];
  readonly refusals: unknown[];
}

/** What a server hears of these bytes and what it answers, if they come in these pieces. */
async function exchange(pieces: readonly Buffer[]): Promise<Exchange> {
  const received: unknown[] = [];
  const sent: string[] = [];
  const input = new Readable({ read: () => undefined });
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk.toString('utf8'));
      done();
    },
  });
  const transport = new StdioTransport(input, output);
  transport.onmessage = (message) => received.push(message);
  transport.onerror = () => undefined;
  await transport.start();
  // Not pushed, because a stream would deliver them later.
  for (const piece of pieces) input.emit('data', piece);
  await transport.close();
  input.destroy();
  const lines = sent.join('').split('\n').slice(0, -1);
  return { received, refusals: lines.map((line) => JSON.parse(line) as unknown) };
}

const call = (id: unknown, params: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });

export const MESSAGES: FuzzTarget = {
  name: 'json-rpc-lines',
  samples: [
    `${call(1, { name: 'task_list', arguments: { limit: 5 } })}\n${call('two', { text: 'grüße 😀' })}\n`,
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\r\n\n{"jsonrpc":"2.0","id":3,"result":{}}\n',
    `{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"m"}}\n${call(5, {})}\n`,
  ],
  check: async (input) => {
    const bytes = Buffer.from(`${input}\n`);
    const whole = await exchange([bytes]);
    const middle = Math.floor(bytes.length / 2);
    promise(
      isDeepStrictEqual(whole, await exchange([bytes.subarray(0, middle), bytes.subarray(middle)])),
      'pieces do not matter',
    );
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '' && line !== '\r');
    promise(whole.received.length + whole.refusals.length === lines.length, 'each line is heard or refused, once');
    for (const refusal of whole.refusals)
      promise(REFUSALS.has((refusal as { error: { code: unknown } }).error.code), 'a refusal has a code of JSON-RPC');
    return whole.refusals.length === 0;
  },
};
