import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openCurrent } from '../clients/official-clients.ts';
import { createCall, playSession } from '../clients/whole-session.ts';
import { promiseTest } from '../support/promise-test.ts';
import { installInto, linkPackages, MANIFEST, openFolder, packCopy, run } from './packed.ts';

describe('the installed package', () => {
  let folder: string;
  let project: string;
  let colibri: string;

  beforeAll(() => {
    folder = openFolder();
    project = join(folder, 'project');
    installInto(project, packCopy(folder));
    colibri = join(project, 'node_modules/.bin/colibri');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const evaluate = (code: string, ...flags: string[]) =>
    run(project, process.execPath, ...flags, '--input-type=module', '--eval', code);

  promiseTest('package/program', 'colibri --version and --help', () => {
    expect(run(project, colibri, '--version')).toEqual({ status: 0, stdout: `${MANIFEST.version}\n`, stderr: '' });
    expect(run(project, colibri, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('verify') });
    expect(run(project, colibri, 'fly')).toMatchObject({ status: 64, stdout: '' });
  });

  promiseTest('package/program', 'an agent completes a session, and colibri verify accepts it', async () => {
    const client = await openCurrent({ command: colibri, args: ['serve'], cwd: project, env: {} });
    expect(client.serverVersion).toBe(MANIFEST.version);
    const call = await createCall(client);
    await playSession(call);
    expect((await call('server_health')).data).toMatchObject({ status: 'ok', problems: [] });
    await client.close();
    const { status, stdout } = run(project, colibri, 'verify', '--json');
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { verdict: 'whole', problems: [] }]);
  });

  promiseTest('package/library', 'the server can be imported without any other package', () => {
    const code = `
      const { createServer } = await import('colibri-mcp');
      console.log(createServer({ mode: 'MINIMAL' }).getVersion());`;
    expect(evaluate(code)).toEqual({ status: 0, stdout: `${MANIFEST.version}\n`, stderr: '' });
  });

  promiseTest('package/library', "a tool with a schema of the embedder's own zod is served", () => {
    linkPackages(project, 'zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core');
    linkPackages(project, '@modelcontextprotocol/client');
    const code = `
      import * as z from 'zod';
      import { InMemoryTransport } from '@modelcontextprotocol/server';
      import { Client } from '@modelcontextprotocol/client';
      import { createServer, registerColibriTool, start, stop } from 'colibri-mcp';
      const [near, far] = InMemoryTransport.createLinkedPair();
      const server = createServer({ transport: far, mode: 'FULL', logger: () => {}, installGlobalHandlers: false });
      const inputSchema = z.strictObject({ word: z.string().describe('any word') });
      registerColibriTool(server, 'echo', { inputSchema, access: 'none' }, ({ word }) => ({ word }));
      await start(server);
      const client = new Client({ name: 'embedder', version: '1' });
      await client.connect(near);
      const { tools: [tool] } = await client.listTools();
      const { structuredContent } = await client.callTool({ name: 'echo', arguments: { word: 'hello' } });
      const refused = await client.callTool({ name: 'echo', arguments: { word: 7 } });
      console.log(JSON.stringify([tool.inputSchema.properties, structuredContent, refused.isError]));
      await client.close();
      await stop(server);`;
    const { stdout, stderr } = evaluate(code);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([
      { word: { type: 'string', description: 'any word' } },
      { ok: true, data: { word: 'hello' } },
      true,
    ]);
  });

  promiseTest('package/library', 'the example of the README prints what it promises', () => {
    const section =
      readFileSync('README.md', 'utf8')
        .split(/^## /m)
        .find((part) => part.startsWith('Use it as a library')) ?? '';
    const [, verify = ''] = [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
    const code = verify.replaceAll('type Digest, ', '').replaceAll(': Digest', '');
    expect(evaluate(code)).toEqual({ status: 0, stdout: 'true\nfalse\n', stderr: '' });
  });

  promiseTest('package/library', 'the verifier gives one root in Node and in a browser', () => {
    const code = `
      import { leafHash, TreeBuilder } from 'colibri-mcp/integrity';
      const tree = new TreeBuilder();
      for (const text of ['a', 'b', 'c']) tree.add(leafHash(text));
      console.log(import.meta.resolve('colibri-mcp/integrity').split('/').at(-1), tree.root());`;
    const [inNode, inBrowser] = [evaluate(code), evaluate(code, '--conditions=browser')];
    expect([inNode.stderr, inBrowser.stderr]).toEqual(['', '']);
    const [file, root] = inNode.stdout.trim().split(' ');
    expect([file, root]).toEqual(['integrity.js', expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(inBrowser.stdout).toBe(`integrity.browser.js ${root}\n`);
  });

  promiseTest('package/library', 'no other path can be imported', () => {
    for (const path of ['dist/server.js', 'server', 'integrity/merkle', 'dist/program.cjs'])
      expect(evaluate(`await import('colibri-mcp/${path}')`).stderr, path).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
