import { truncateSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { post, RecordedProject, refused, SILENT } from './recorded-project.ts';

/** How a hook can be started: with a socket or a pipe as standard input, each read directly or as a stream. */
const LAUNCHERS = { socket: [], pipe: ['sh', '-c', 'cat | "$0" "$@"'] } as const;

/** A Node that offers no handle for pipes, or one with other names. */
const WITHOUT_HANDLES = {
  removed: 'process.binding = undefined;',
  refused: "process.binding = () => { throw new Error('not permitted'); };",
  renamed: 'process.binding = () => ({});',
  unreadable:
    'const { binding } = process; process.binding = (name) => name === "pipe_wrap" ? { constants: { SOCKET: 0 }, Pipe: class { open() { return -22; } close() {} } } : binding(name);',
};

/** A socket whose other end was closed while something that the hook should have read or written was on its way. */
const RESET = `
  const { binding } = process;
  const { streamBaseState, kReadBytesOrError, kArrayBufferOffset } = binding('stream_wrap');
  const read = (handle, result, bytes) => {
    [streamBaseState[kReadBytesOrError], streamBaseState[kArrayBufferOffset]] = [result, 0];
    handle.onread(bytes);
  };
  class Pipe {
    open() {}
    close() {}
    readStart() {
      const bytes = new Uint8Array(Buffer.from(process.env.SENT)).buffer;
      setImmediate(() => {
        if (bytes.byteLength > 0) read(this, bytes.byteLength, bytes);
        read(this, -104, undefined);
      });
      return 0;
    }
  }
  process.binding = (name) => (name === 'pipe_wrap' ? { constants: { SOCKET: 0 }, Pipe } : binding(name));`;

/** Longer than a pipe holds, with characters of several bytes at every boundary. */
const LONG = 'é€😀'.repeat(60_000);

describe('standard input of a hook', () => {
  promiseTest('recorder/silent', 'is read to its end from a socket and a pipe, with and without a handle', async () => {
    const project = new RecordedProject();
    const environments: Record<string, string>[] = [{}, { NODE_PENDING_DEPRECATION: '1' }];
    for (const [name, code] of Object.entries(WITHOUT_HANDLES)) {
      writeFileSync(project.path(`${name}.cjs`), code);
      environments.push({ NODE_OPTIONS: `--require ${JSON.stringify(project.path(`${name}.cjs`))}` });
    }
    const inputs = [post({ tool_response: LONG }), post({ tool_response: 'short' }), '{"cut": "é'];
    const runs = environments.flatMap((env) =>
      Object.values(LAUNCHERS).flatMap((launcher) => inputs.map((input) => ({ env, launcher, input }))),
    );
    // A salt is drawn for each event, so that digests differ; the text of the answer does not.
    const results: unknown[] = [];
    for (const { env, launcher, input } of runs) results.push(await project.hook(input, { env, launcher }));
    expect(results).toEqual(runs.map(() => SILENT));
    const contents = project.events().map(({ event, content }) => `${event} ${content}`);
    const distinct = new Map(
      contents.map((content) => [content, contents.filter((other) => other === content).length]),
    );
    expect([...distinct.values()]).toEqual(inputs.map(() => runs.length / inputs.length));
    expect(contents[0]).toContain('é€😀é€😀');
  });

  promiseTest('recorder/silent', 'is given up when the client neither writes nor closes it', async () => {
    const project = new RecordedProject();
    writeFileSync(project.path('removed.cjs'), WITHOUT_HANDLES.removed);
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(project.path('removed.cjs'))}` };
    const open = ['sh', '-c', 'sleep 3 | "$0" "$@"'];
    const results = await Promise.all([
      project.hook('', { isOpen: true }),
      project.hook('', { isOpen: true, env }),
      project.hook(post({ tool_use_id: 'open' }), { isOpen: true }),
      project.hook('', { launcher: ['sh', '-c', 'exec "$0" "$@" < /dev/null'] }),
      project.hook('', { launcher: ['sh', '-c', ': > empty; exec "$0" "$@" < empty'] }),
      project.hook('', { launcher: open }),
    ]);
    const late = refused(/no event arrived in time/);
    const empty = refused(/standard input is empty/);
    expect(results).toEqual([late, late, SILENT, empty, empty, late]);
    expect(project.events().map(({ call_id: id }) => id)).toEqual(['open']);
  });

  promiseTest('recorder/silent', 'is recorded as far as it arrived before the connection broke', async () => {
    const project = new RecordedProject();
    writeFileSync(project.path('reset.cjs'), RESET);
    const options = `--require ${JSON.stringify(project.path('reset.cjs'))}`;
    const send = (sent: string) => project.hook('', { env: { NODE_OPTIONS: options, SENT: sent } });
    expect(await send(post({ tool_use_id: 'whole' }))).toEqual(SILENT);
    expect(await send(post({ tool_use_id: 'cut' }).slice(0, -40))).toEqual(SILENT);
    expect(await send('')).toEqual(refused(/reading standard input failed with -104/));
    expect(project.events().map(({ call_id: id, event }) => [id, event])).toEqual([
      ['whole', 'PostToolUse'],
      [null, 'unreadable'],
    ]);
  });

  promiseTest('recorder/silent', 'is read no further than an event can be long from a file', async () => {
    const project = new RecordedProject();
    writeFileSync(project.path('long'), '');
    // All of it would take a minute.
    truncateSync(project.path('long'), 2 ** 36);
    const started = performance.now();
    const result = await project.hook('', { launcher: ['sh', '-c', 'exec "$0" "$@" < long'] });
    expect([result, project.events().length]).toEqual([SILENT, 1]);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
