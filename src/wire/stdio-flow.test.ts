import { describe, expect, it, vi } from 'vitest';
import { line, openPipes, type Pipes, request, settle } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';

const answerTo = (id: number | string) => ({ jsonrpc: '2.0' as const, id, result: {} });
const cancel = (id: unknown) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });

describe('backpressure', () => {
  promiseTest('stdio/flow', 'stdin is paused after 256 requests', async () => {
    const { input, received, transport } = await openPipes();
    for (let id = 1; id <= 300; id += 1) input.write(line(request(id)));
    await settle();
    expect(received).toHaveLength(256);
    expect(input.isPaused()).toBe(true);
    await transport.send(answerTo(1));
    await settle();
    expect(received).toHaveLength(257);
    for (let id = 2; id <= 300; id += 1) await transport.send(answerTo(id));
    await settle();
    expect(received.map((message) => (message as { id: number }).id)).toEqual(
      Array.from({ length: 300 }, (_, index) => index + 1),
    );
    expect(input.isPaused()).toBe(false);
    await transport.idle();
  });

  promiseTest('stdio/flow', 'notifications and rejected lines do not count as in flight', async () => {
    const { input, received, sent } = await openPipes();
    for (let index = 0; index < 300; index += 1) {
      input.write(line({ jsonrpc: '2.0', method: 'notifications/x' }));
      input.write('garbage\n{"jsonrpc":"2.0","id":null,"method":"x"}\n');
    }
    await settle();
    expect(received).toHaveLength(300);
    expect(sent()).toHaveLength(600);
    expect(input.isPaused()).toBe(false);
  });

  promiseTest('stdio/flow', 'a cancelled request no longer counts', async () => {
    const { input, received } = await openPipes();
    const requests = Array.from({ length: 256 }, (_, index) => line(request(index)));
    input.write(`${requests.join('')}${line(cancel(0))}`);
    await settle();
    input.write(line(request('next')));
    await settle();
    expect(received.at(-1)).toEqual(request('next'));
  });
});

describe('a client that cancels requests', () => {
  promiseTest('stdio/flow', 'a cancelled call counts until it ends', async () => {
    const { input, received, transport } = await openPipes();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    transport.onmessage = (message) => {
      received.push(message);
      if ('method' in message && 'id' in message) void transport.track(message.id, () => ended);
    };
    const ids = Array.from({ length: 256 }, (_, id) => id);
    input.write(ids.map((id) => line(request(id)) + line(cancel(id))).join(''));
    await settle();
    input.write(line(request('next')));
    await settle();
    expect(input.isPaused()).toBe(true);
    expect(received.at(-1)).toEqual(cancel(255));
    end();
    await settle();
    expect(received.at(-1)).toEqual(request('next'));
    expect(input.isPaused()).toBe(false);
  });

  promiseTest('stdio/flow', 'a cancelled request that never becomes a call does not count', async () => {
    const { input, received, transport } = await openPipes();
    const ids = Array.from({ length: 256 }, (_, id) => id);
    input.write(ids.map((id) => line(request(id)) + line(cancel(id))).join(''));
    await settle();
    input.write(line(request('next')));
    await settle();
    expect(received.at(-1)).toEqual(request('next'));
    await transport.send(answerTo('next'));
    await transport.idle();
  });

  promiseTest('stdio/flow', 'a cancellation of an unknown, cancelled or answered request changes nothing', async () => {
    const { input, transport } = await openPipes();
    input.write(line(request(1)) + line(cancel(2)) + line(cancel(null)) + line(cancel({})));
    await settle();
    const idle = vi.fn();
    void transport.idle().then(idle);
    await settle();
    expect(idle).not.toHaveBeenCalled();
    await transport.send(answerTo(1));
    input.write(line(cancel(1)) + line(cancel(1)));
    await settle();
    expect(idle).toHaveBeenCalledOnce();
  });
});

describe('idle', () => {
  it('resolves at once without requests', async () => {
    const { transport } = await openPipes();
    await transport.idle();
  });

  promiseTest('stdio/idle', 'it waits for the last answer', async () => {
    const { input, transport } = await openPipes();
    input.write(line(request(1)) + line(request('1')));
    await settle();
    const idle = vi.fn();
    const waiting = transport.idle().then(idle);
    await transport.send(answerTo(1));
    await settle();
    expect(idle).not.toHaveBeenCalled();
    await transport.send({ jsonrpc: '2.0', id: '1', error: { code: 1, message: 'no' } });
    await waiting;
  });

  promiseTest('stdio/idle', 'an answer queued for a full pipe is not written yet', async () => {
    const { input, output, transport, sent } = await openPipes();
    input.write(line(request(1)));
    await settle();
    output.cork();
    output.pause();
    const idle = vi.fn();
    const waiting = transport.idle().then(idle);
    const sending = transport.send(answerTo(1));
    await settle();
    expect(idle).not.toHaveBeenCalled();
    output.uncork();
    output.resume();
    await Promise.all([sending, waiting]);
    expect(sent()).toEqual([answerTo(1)]);
  });

  promiseTest('stdio/idle', 'notifications of the server are not answers', async () => {
    const { input, transport } = await openPipes();
    input.write(line(request(1)));
    await settle();
    const idle = vi.fn();
    const waiting = transport.idle().then(idle);
    await transport.send({ jsonrpc: '2.0', method: 'notifications/progress', params: {} });
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    await settle();
    expect(idle).not.toHaveBeenCalled();
    await transport.send(answerTo(1));
    await waiting;
  });

  promiseTest('stdio/idle', 'a cancelled request needs no answer', async () => {
    const { input, transport, received } = await openPipes();
    input.write(line(request(1)) + line(cancel(1)));
    await settle();
    expect(received).toHaveLength(2);
    await transport.idle();
  });

  for (const id of ['1', 2, null, {}, [1], undefined]) {
    promiseTest('stdio/idle', `cancelling ${JSON.stringify(id)} does not cancel request 1`, async () => {
      const { input, transport } = await openPipes();
      input.write(line(request(1)) + line(cancel(id)));
      await settle();
      const idle = vi.fn();
      const waiting = transport.idle().then(idle);
      await settle();
      expect(idle).not.toHaveBeenCalled();
      await transport.send(answerTo(1));
      await waiting;
    });
  }

  promiseTest('stdio/idle', 'a subscription needs no answer until it ends', async () => {
    const { input, transport, received } = await openPipes();
    input.write(line({ ...request(1), method: 'subscriptions/listen' }));
    await settle();
    expect(received).toHaveLength(1);
    await transport.idle();
  });
});

describe('a client that disconnects', () => {
  function watch({ transport }: Pipes) {
    const closed = vi.fn();
    transport.onclose = closed;
    return closed;
  }

  promiseTest('stdio/gone', 'the transport closes after the last answer', async () => {
    const pipes = await openPipes();
    const closed = watch(pipes);
    pipes.input.end(line(request(1)));
    await settle();
    expect(closed).not.toHaveBeenCalled();
    await pipes.transport.send(answerTo(1));
    await settle();
    expect(closed).toHaveBeenCalledTimes(1);
    expect(pipes.sent()).toEqual([answerTo(1)]);
  });

  promiseTest('stdio/gone', '`onend` is called instead if it is set', async () => {
    const pipes = await openPipes();
    const closed = watch(pipes);
    const ended = vi.fn();
    pipes.transport.onend = ended;
    pipes.input.end();
    await settle();
    expect(ended).toHaveBeenCalledTimes(1);
    expect(closed).not.toHaveBeenCalled();
    await pipes.transport.send({ jsonrpc: '2.0', method: 'notifications/x' });
    await pipes.transport.close();
    expect(closed).toHaveBeenCalledTimes(1);
  });

  promiseTest('stdio/gone', 'after a broken pipe no answer is awaited', async () => {
    const pipes = await openPipes();
    const closed = watch(pipes);
    pipes.input.write(line(request(1)));
    await settle();
    pipes.output.destroy(new Error('EPIPE'));
    await settle();
    await pipes.transport.idle();
    expect(pipes.errors).toEqual(['EPIPE']);
    expect(closed).toHaveBeenCalledTimes(1);
    await expect(pipes.transport.send(answerTo(1))).rejects.toThrow('closed');
  });

  promiseTest('stdio/gone', 'a failed write rejects the send', async () => {
    const pipes = await openPipes();
    pipes.transport.onend = () => undefined;
    pipes.output.destroy(new Error('EPIPE'));
    await expect(pipes.transport.send(answerTo(1))).rejects.toThrow();
  });

  promiseTest('stdio/gone', 'an error of stdin', async () => {
    const pipes = await openPipes();
    const closed = watch(pipes);
    pipes.input.destroy(new Error('EIO'));
    await settle();
    expect(pipes.errors).toEqual(['EIO']);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('ignores messages after close, and close is idempotent', async () => {
    const pipes = await openPipes();
    const closed = watch(pipes);
    await pipes.transport.close();
    await pipes.transport.close();
    pipes.input.write(line(request(1)));
    await settle();
    expect(pipes.received).toEqual([]);
    expect(closed).toHaveBeenCalledTimes(1);
    pipes.output.destroy(new Error('EPIPE'));
    await settle();
    expect(pipes.errors).toEqual([]);
  });
});
