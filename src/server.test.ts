import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { listFiles } from '../test/support/folders.ts';
import { call, openMemoryServer } from '../test/support/memory-server.ts';
import { promiseTest } from '../test/support/promise-test.ts';
import { importsOf, reachableFrom } from '../test/tidy/imports.ts';
import type { Mode } from './modes.ts';
import * as library from './server.ts';

const { createServer, registerColibriTool } = library;
const noInput = z.strictObject({});
const NETWORK = /^(?:node:)?(?:net|http|https|http2|dgram|tls|inspector|cluster|ws|express|hono|undici)(?:\/|$)/;

describe('the library', () => {
  promiseTest('door/exports', 'in the sources', () => {
    expect(Object.keys(library).toSorted()).toEqual(
      [
        'ColibriError',
        'createServer',
        'registerColibriTool',
        'start',
        'stop',
        'createNoOpAuditSink',
        'main',
      ].toSorted(),
    );
  });

  promiseTest('door/exports', 'in the build, and an import starts nothing', () => {
    const { stdout, status } = runWithLibrary('console.log(Object.keys(library).toSorted().join())');
    expect(stdout.trim()).toBe('ColibriError,createNoOpAuditSink,createServer,main,registerColibriTool,start,stop');
    expect(status).toBe(0);
  });

  promiseTest('door/exports', 'createNoOpAuditSink returns a frozen sink that does nothing', () => {
    const sink = library.createNoOpAuditSink();
    expect(Object.isFrozen(sink)).toBe(true);
    expect(sink.enter({} as library.ToolEnterEvent)).toBeUndefined();
    expect(sink.exit({} as library.ToolExitEvent)).toBeUndefined();
  });

  promiseTest('door/rule-error', 'as a tool of its own', async () => {
    const { client } = await openMemoryServer({
      tools: (register) =>
        register('refuse', () => {
          throw new library.ColibriError('ERR_NOT_FOUND', 'no such page', { page: 7 }, { advice: 'call another tool' });
        }),
    });
    expect(await call(client, 'refuse')).toMatchObject({
      isError: true,
      error: {
        code: 'HANDLER_ERROR',
        message: 'ERR_NOT_FOUND: no such page; call another tool',
        details: { code: 'ERR_NOT_FOUND', page: 7 },
      },
    });
  });

  promiseTest('door/no-network', 'in its sources', () => {
    const { files, packages } = reachableFrom('src/server.ts');
    expect(files).toContain('src/trust/open-database.ts');
    expect(packages).toContain('@modelcontextprotocol/server/stdio');
    expect(packages.filter((name) => NETWORK.test(name))).toEqual([]);
  });

  promiseTest('door/no-network', 'in the build', () => {
    const bundles = listFiles('dist', '.js').filter((file) => !file.includes('test'));
    expect(bundles.length).toBeGreaterThan(2);
    for (const file of bundles) {
      const text = readFileSync(file, 'utf8');
      expect(importsOf(text).filter((name) => NETWORK.test(name))).toEqual([]);
      expect(text).not.toMatch(/\.listen\(\s*\d/);
    }
  });
});

describe('createServer', () => {
  promiseTest('door/version', 'the one in package.json', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(createServer({ mode: 'FULL' }).getVersion()).toBe(version);
  });

  promiseTest('door/version-override', 'clients see it', async () => {
    const { server, client } = await openMemoryServer({ version: '9.9.9-test' });
    expect(server.getVersion()).toBe('9.9.9-test');
    expect(client.getServerVersion()).toMatchObject({ name: 'colibri', version: '9.9.9-test' });
  });

  for (const mode of ['FULL', 'READONLY', 'TEST', 'MINIMAL'] as const) {
    promiseTest('door/mode-override', mode, () => expect(createServer({ mode }).getMode()).toBe(mode));
  }

  for (const mode of ['full', '', 'WRITE', '__proto__']) {
    promiseTest('door/mode-override', `"${mode}" is refused`, () => {
      expect(() => createServer({ mode: mode as Mode })).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_MODE', message: expect.stringContaining('FULL, READONLY') }),
      );
    });
  }

  promiseTest('door/inert', 'the transport is not started', () => {
    const [transport] = InMemoryTransport.createLinkedPair();
    const started = vi.spyOn(transport, 'start');
    const server = createServer({ mode: 'FULL', transport });
    expect(started).not.toHaveBeenCalled();
    expect(transport.onmessage).toBeUndefined();
    expect(server.isConnected()).toBe(false);
  });

  promiseTest('door/no-handlers', 'neither for errors nor for signals', () => {
    const before = process.eventNames().map((event) => [event, process.listenerCount(event)]);
    createServer({ mode: 'FULL' });
    expect(process.eventNames().map((event) => [event, process.listenerCount(event)])).toEqual(before);
  });

  promiseTest('door/stdout', 'process.stdout.write is unchanged', () => {
    const write: unknown = Reflect.get(process.stdout, 'write');
    createServer({ mode: 'FULL' });
    expect(Reflect.get(process.stdout, 'write')).toBe(write);
  });

  promiseTest('door/config', 'the mode comes from COLIBRI_MODE', () => {
    const print = 'console.log(library.createServer().getMode())';
    expect(runWithLibrary(print, {}).stdout.trim()).toBe('FULL');
    expect(runWithLibrary(print, { COLIBRI_MODE: 'READONLY' }).stdout.trim()).toBe('READONLY');
  });

  promiseTest('door/config', 'an invalid mode throws', () => {
    expect(refusalOf({ COLIBRI_MODE: 'sideways' })).toMatch(/^ERR_INVALID_MODE COLIBRI_MODE: "sideways"/);
  });

  for (const name of ['AMS_MODE', 'AMS_DB_PATH', 'AMS_']) {
    promiseTest('door/old-names', name, () => {
      expect(refusalOf({ [name]: 'FULL' })).toMatch(new RegExp(`^ERR_CONFIG_INVALID ${name}: .*COLIBRI_`));
    });
  }

  promiseTest('door/old-names', 'the program exits with EX_CONFIG', () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, ['dist/colibri.cjs'], {
      env: { PATH: process.env['PATH'], AMS_MODE: 'FULL' },
      encoding: 'utf8',
      input: '',
    });
    expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
    expect(stderr).toContain('AMS_MODE');
  });
});

describe('registerColibriTool', () => {
  promiseTest('door/register', 'before the server is connected', () => {
    const server = createServer({ mode: 'FULL' });
    registerColibriTool(server, 'server_ping', { inputSchema: noInput, title: 'Ping' }, () => ({}));
    expect(server.isConnected()).toBe(false);
    expect(server.listTools()).toMatchObject([{ name: 'server_ping', title: 'Ping', inputSchema: noInput }]);
  });

  promiseTest('door/register-once', 'the second registration throws and the first stays', async () => {
    const { client } = await openMemoryServer({
      tools: (register) => {
        register('echo', () => 1);
        expect(() => register('echo', () => 2)).toThrow('tool already registered: echo');
      },
    });
    expect((await call(client, 'echo')).data).toBe(1);
  });

  for (const name of ['server-ping', 'Server', '', '1st', 'a b', 'a.b', 'ping\n', 'ünicode', '__proto__x!']) {
    promiseTest('door/register-name', JSON.stringify(name), () => {
      const server = createServer({ mode: 'FULL' });
      const register = () => registerColibriTool(server, name, { inputSchema: noInput }, () => ({}));
      expect(register).toThrow(`invalid tool name: ${name}`);
      expect(server.listTools()).toEqual([]);
    });
  }

  const schemas: [string, unknown][] = [
    ['none', undefined],
    ['JSON Schema', { type: 'object' }],
    ['a Zod string', z.string()],
    ['a Zod union', z.union([noInput, noInput])],
    ['a raw shape', { name: z.string() }],
  ];
  for (const [what, schema] of schemas) {
    promiseTest('door/register-schema', `not ${what}`, () => {
      const server = createServer({ mode: 'FULL' });
      const config = { inputSchema: schema as typeof noInput };
      expect(() => registerColibriTool(server, 'tool', config, () => ({}))).toThrow('inputSchema must be a Zod object');
      expect(server.listTools()).toEqual([]);
    });
  }

  it('accepts a name with digits and underscores', () => {
    const server = createServer({ mode: 'FULL' });
    for (const name of ['_', 'a1', 'task_get_2'])
      registerColibriTool(server, name, { inputSchema: noInput }, () => ({}));
    expect(server.listTools().map(({ name }) => name)).toEqual(['_', 'a1', 'task_get_2']);
  });
});

/** In a separate process, because the environment is read once. */
function runWithLibrary(code: string, env: Record<string, string> = {}) {
  return spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `import * as library from './dist/server.js';\n${code}`],
    { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8', input: '' },
  );
}

function refusalOf(env: Record<string, string>): string {
  const code = 'try { library.createServer() } catch (error) { console.log(error.code, error.message) }';
  return runWithLibrary(code, env).stdout;
}
