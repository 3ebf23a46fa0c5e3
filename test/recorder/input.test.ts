import { writeFileSync } from 'node:fs';
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
});
