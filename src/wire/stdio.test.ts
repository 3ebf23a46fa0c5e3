import { describe, expect, it } from 'vitest';
import { line, openPipes, request, settle } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { MAX_MESSAGE_BYTES } from './stdio.ts';

const REFUSED = 'the line is not one JSON-RPC 2.0 message';
const NOT_JSON = 'the line is not JSON in UTF-8';

describe('lines', () => {
  const chunkings: [string, (text: string) => Buffer[]][] = [
    ['several in one chunk', (text) => [Buffer.from(text)]],
    ['one byte at a time, through characters too', (text) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]))],
    ['in the middle of each', (text) => [Buffer.from(text).subarray(0, 30), Buffer.from(text).subarray(30)]],
    ['with CR LF', (text) => [Buffer.from(text.replaceAll('\n', '\r\n'))]],
    ['with empty lines between', (text) => [Buffer.from(`\n\r\n${text.replaceAll('\n', '\n\n\r\n')}`)]],
  ];
  for (const [what, cut] of chunkings) {
    promiseTest('stdio/lines', what, async () => {
      const { input, received, errors, sent } = await openPipes();
      const messages = [
        request(1, { text: 'grüße 😀' }),
        request('two'),
        { jsonrpc: '2.0', method: 'notifications/x' },
      ];
      for (const chunk of cut(messages.map(line).join(''))) input.write(chunk);
      await settle();
      expect(received).toEqual(messages);
      expect({ errors, sent: sent() }).toEqual({ errors: [], sent: [] });
    });
  }

  promiseTest('stdio/lines', 'answers are single lines, whatever they contain', async () => {
    const { transport, sent } = await openPipes();
    await transport.send({ jsonrpc: '2.0', id: 1, result: { text: 'two\nlines\u2028\ud800' } });
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} });
    expect(sent()).toMatchObject([{ id: 1, result: { text: 'two\nlines\u2028\ud800' } }, { id: 2 }]);
  });

  promiseTest('stdio/lines', 'a partial line at the end is not a message', async () => {
    const { input, received, errors } = await openPipes();
    input.end(line(request(1)) + JSON.stringify(request(2)).slice(0, -1));
    await settle();
    expect(received).toHaveLength(1);
    expect(errors).toEqual(['the client stopped sending in the middle of a message']);
  });
});

describe('an invalid message', () => {
  const cases: [string, string | Buffer, number, string][] = [
    ['words', 'hello there', -32700, NOT_JSON],
    ['half of JSON', '{"jsonrpc":"2.0","id":1', -32700, NOT_JSON],
    ['two values on a line', `${JSON.stringify(request(1))}${JSON.stringify(request(2))}`, -32700, NOT_JSON],
    ['bytes that are not UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1'), -32700, NOT_JSON],
    ['a character cut in half', Buffer.from('{"method":"ü"}').subarray(0, 12), -32700, NOT_JSON],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), -32700, NOT_JSON],
    ['a byte order mark', `\ufeff${JSON.stringify(request(1))}`, -32700, NOT_JSON],
    ['spaces', '   ', -32700, NOT_JSON],
    ['a batch', JSON.stringify([request(1), request(2)]), -32600, REFUSED],
    ['an empty batch', '[]', -32600, REFUSED],
    ['null', 'null', -32600, REFUSED],
    ['a number', '42', -32600, REFUSED],
    ['a text', '"hello"', -32600, REFUSED],
    ['an empty object', '{}', -32600, REFUSED],
    ['JSON-RPC 1', '{"jsonrpc":"1.0","method":"x"}', -32600, REFUSED],
    ['a bomb of brackets', '['.repeat(100_000), -32700, NOT_JSON],
    ['a nest of brackets', '['.repeat(100_000) + ']'.repeat(100_000), -32600, REFUSED],
    ['no method', '{"jsonrpc":"2.0"}', -32600, REFUSED],
    ['a method that is a number', '{"jsonrpc":"2.0","method":5}', -32600, REFUSED],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, REFUSED],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, REFUSED],
    ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600, REFUSED],
    ['an id that is too large', '{"jsonrpc":"2.0","id":1e300,"method":"x"}', -32600, REFUSED],
    ['an answer that is none', '{"jsonrpc":"2.0","id":7,"result":5}', -32600, REFUSED],
  ];
  for (const [what, text, code, message] of cases) {
    promiseTest('stdio/garbage', what, async () => {
      const { input, received, errors, sent, transport } = await openPipes();
      input.write(Buffer.concat([Buffer.from(text), Buffer.from('\n')]));
      input.write(line(request(99)));
      await settle();
      expect(sent()).toEqual([{ jsonrpc: '2.0', error: { code, message } }]);
      expect(errors).toEqual([`refused a message: ${message}`]);
      expect(received).toEqual([request(99)]);
      await transport.send({ jsonrpc: '2.0', id: 99, result: {} });
      await transport.idle();
    });
  }

  const malformed = [
    { ...request(7), params: [] },
    { ...request(7), params: null },
    { ...request(7), method: 'tools/list', params: { _meta: 5 } },
    { ...request(7), method: 'tools/list', params: { _meta: { progressToken: {} } } },
    { ...request(7), params: { _meta: 5 }, extra: true },
    { ...request(7), params: { _meta: { progressToken: {} } }, result: {} },
    { ...request(7), params: [{ _meta: 5 }] },
    { ...request(7), method: 5 },
    { ...request(7), extra: true },
    { ...request(7), result: {} },
  ];
  for (const message of malformed) {
    promiseTest('stdio/garbage', `${JSON.stringify(message)} is answered with its id`, async () => {
      const { input, received, sent, transport } = await openPipes();
      input.write(line(message));
      await settle();
      expect(sent()).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32600, message: REFUSED } }]);
      expect(received).toEqual([]);
      await transport.idle();
    });
  }

  it('does not include a response of the client', async () => {
    const { input, received, sent } = await openPipes();
    const answer = { jsonrpc: '2.0', id: 7, result: {} };
    input.write(line(answer));
    await settle();
    expect(received).toEqual([answer]);
    expect(sent()).toEqual([]);
  });
});

describe('an oversized message', () => {
  // Several chunks over the limit: both ends must be kept across chunks.
  const filler = 'x'.repeat(MAX_MESSAGE_BYTES + 300_000);
  const params = `"method":"tools/call","params":{"text":"${filler}"}`;
  const cases: [string, string, number | string | undefined][] = [
    ['its id at the start', `{"jsonrpc":"2.0","id":12,${params}}`, 12],
    ['its id first of all', `{ "id" : "twelve" , "jsonrpc":"2.0",${params}}`, 'twelve'],
    ['its id at the end', `{"jsonrpc":"2.0",${params},"id":12}`, 12],
    ['its id before the last member', `{${params},"id":"zwölf","jsonrpc":"2.0"}\r`, 'zwölf'],
    ['no id', `{"jsonrpc":"2.0",${params}}`, undefined],
    ['an id further inside only', `{"jsonrpc":"2.0","method":"x","params":{"text":"${filler}","id":12}}`, undefined],
    ['an id in a text only', `{"jsonrpc":"2.0","method":"x","params":"${filler}\\"id\\":12}"}`, undefined],
    ['an id with a leading zero', `{"id":007,${params}}`, undefined],
    ['an id with a raw control character', `{"id":"a\tb",${params}}`, undefined],
    ['an id that is null', `{"id":null,${params}}`, undefined],
    ['no JSON at all', filler + filler, undefined],
  ];
  for (const [what, text, id] of cases) {
    promiseTest('stdio/oversized', what, async () => {
      const { input, received, sent, transport } = await openPipes();
      for (let start = 0; start < text.length; start += 65_536) input.write(text.slice(start, start + 65_536));
      input.write(`\n${line(request(99))}`);
      await settle();
      const error = { code: -32600, message: `the message is longer than ${MAX_MESSAGE_BYTES} bytes` };
      expect(sent()).toEqual([{ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error }]);
      expect(received).toEqual([request(99)]);
      await transport.send({ jsonrpc: '2.0', id: 99, result: {} });
      await transport.idle();
    });
  }

  promiseTest('stdio/oversized', 'in one chunk together with the next message', async () => {
    const { input, received, sent } = await openPipes();
    input.write(`{"jsonrpc":"2.0","id":12,${params}}\n${line(request(99))}`);
    await settle();
    expect(sent()).toMatchObject([{ id: 12, error: { code: -32600 } }]);
    expect(received).toEqual([request(99)]);
  });

  promiseTest('stdio/oversized', 'a message of exactly the limit is accepted', async () => {
    const { input, received, sent } = await openPipes();
    const frame = JSON.stringify(request(1, { text: '' })).length;
    for (const length of [MAX_MESSAGE_BYTES - frame, MAX_MESSAGE_BYTES - frame + 1])
      input.write(line(request(1, { text: 'x'.repeat(length) })));
    await settle();
    expect(received).toHaveLength(1);
    expect(sent()).toMatchObject([{ error: { code: -32600 } }]);
  });
});
