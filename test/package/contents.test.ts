import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { installInto, linkPackages, openFolder, packCopy, run } from './packed.ts';

const bin = (name: string) => resolve('node_modules/.bin', name);

describe('the package', () => {
  let folder: string;
  let tarball: string;
  let project: string;

  beforeAll(() => {
    folder = openFolder();
    tarball = packCopy(folder);
    project = join(folder, 'project');
    installInto(project, tarball);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const listContents = () => {
    const place = join(project, 'node_modules/colibri-mcp');
    const entries = readdirSync(place, { recursive: true, encoding: 'utf8' });
    return entries.filter((name) => !name.startsWith('native') && statSync(join(place, name)).isFile());
  };

  promiseTest('package/contents', 'program, library, types, skills and documents', () => {
    const allowed =
      /^(?:package\.json|README\.md|LICENSE|dist\/colibri\.1\.gz|dist\/[\w.-]+\.(?:js|cjs)|dist\/sbom\.cdx\.json|dist\/page\.html\.br|dist\/types\/.+\.d\.ts|scripts\/sqlite-module\.cjs|\.agents\/skills\/.+)$/;
    const contents = listContents();
    expect(contents.filter((name) => !allowed.test(name) || /test|bench|\.cache$|\.map$/.test(name))).toEqual([]);
    expect(contents).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/colibri.cjs',
        'dist/hook.cjs',
        'dist/ingest.cjs',
        'dist/start.cjs',
        'scripts/sqlite-module.cjs',
        'dist/integrity.browser.js',
        'dist/integrity.js',
        'dist/opencode-plugin.js',
        'dist/page.html.br',
        'dist/program.cjs',
        'dist/sbom.cdx.json',
        'dist/server.js',
        'dist/hash-worker.js',
        'dist/types/integrity/index.d.ts',
        'dist/types/server.d.ts',
        'dist/colibri.1.gz',
      ]),
    );
  });

  promiseTest('package/contents', 'the package is small', () => {
    expect(statSync(tarball).size).toBeLessThan(1_000_000);
  });

  promiseTest('package/contents', 'its scripts are ASCII, as the program that loads them expects', () => {
    const scripts = listContents().filter((name) => /^dist\/(?:program|ingest|hook)\.cjs$/.test(name));
    expect(scripts).toHaveLength(3);
    for (const name of scripts) {
      const bytes = readFileSync(join(project, 'node_modules/colibri-mcp', name));
      expect(bytes.findIndex((byte) => byte > 0x7f)).toBe(-1);
    }
  });

  promiseTest('package/contents', 'the package has no required dependencies', () => {
    const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(['colibri-mcp']);
  });

  promiseTest('package/native', 'without a native module, the installed tree is smaller than 2 MB', () => {
    const place = join(project, 'node_modules/colibri-mcp');
    const bytes = listContents().reduce((sum, name) => sum + statSync(join(place, name)).size, 0);
    expect(bytes).toBeLessThan(2_000_000);
  });

  promiseTest('package/contents', 'publint reports nothing', () => {
    const { status, stdout, stderr } = run(project, bin('publint'), 'run', tarball, '--strict');
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toContain('All good!');
  });

  promiseTest('package/types', 'attw finds no wrong type', () => {
    const { status, stdout, stderr } = run(project, bin('attw'), tarball, '--profile', 'esm-only', '--no-color');
    expect(status, stdout + stderr).toBe(0);
  });

  promiseTest('package/types', 'the types import no package', () => {
    const place = join(project, 'node_modules/colibri-mcp');
    const texts = listContents()
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(place, name), 'utf8'));
    expect(texts.length).toBeGreaterThan(10);
    const named = texts.flatMap((text) => [...text.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^.'"][^'"]*)['"]/g)]);
    expect(named.map(([, name]) => name)).toEqual([]);
  });

  promiseTest('package/types', 'a program compiles without any other package, also without skipLibCheck', () => {
    writeFileSync(join(project, 'alone.ts'), ALONE);
    for (const flags of [
      ['--module', 'NodeNext'],
      ['--module', 'ESNext', '--moduleResolution', 'Bundler'],
    ]) {
      const { status, stdout } = run(project, bin('tsc'), 'alone.ts', '--noEmit', '--strict', ...flags);
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    }
  });

  promiseTest('package/types', 'a strict program compiles, and a wrong one does not', () => {
    const place = join(folder, 'typed');
    installInto(place, tarball);
    linkPackages(place, 'zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core');
    linkPackages(place, '@types/node', 'undici-types');
    const [embed = '', verify = ''] = readmeExamples();
    writeFileSync(join(place, 'embed.ts'), embed);
    writeFileSync(join(place, 'verify.ts'), verify);
    writeFileSync(join(place, 'right.ts'), RIGHT);
    writeFileSync(join(place, 'wrong.ts'), WRONG);
    for (const flags of RESOLUTIONS) {
      const { stdout } = run(place, bin('tsc'), ...PROGRAMS, ...STRICT, ...flags);
      expect(stdout.match(/^\S+\.ts(?=\()|TS\d+/gm), flags.join(' ')).toEqual(
        ['TS2305', 'TS2322', 'TS2322'].flatMap((code) => ['wrong.ts', code]),
      );
    }
  });
});

const PROGRAMS = ['right.ts', 'wrong.ts', 'embed.ts', 'verify.ts'];
const STRICT = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'ES2023', '--types', 'node'];
const RESOLUTIONS = [
  // The declarations themselves are checked too, once: that takes the compiler some seconds.
  ['--module', 'NodeNext', '--skipLibCheck', 'false'],
  ['--module', 'ESNext', '--moduleResolution', 'Bundler', '--skipLibCheck'],
];

/** The programs that the README shows. */
function readmeExamples(): string[] {
  const section =
    readFileSync('README.md', 'utf8')
      .split(/^## /m)
      .find((part) => part.startsWith('Use it as a library')) ?? '';
  return [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
}

const ALONE = `
import { type AuditSink, ColibriError, type CreateServerOptions, createServer, start, stop } from 'colibri-mcp';
import { type Digest, leafHash } from 'colibri-mcp/integrity';
const auditSink: AuditSink = { enter: ({ tool }) => console.log(tool), exit: ({ outcome }) => console.log(outcome) };
const options: CreateServerOptions = { auditSink, mode: 'MINIMAL' };
const server = createServer(options);
export const done: Promise<void> = start(server).then(() => stop(server));
export const codes: string[] = server.listTools().map(({ name }) => name);
export const isOurs = (error: unknown): boolean => error instanceof ColibriError;
export const leaf: Digest = leafHash('text');
`;

const RIGHT = `
import * as z from 'zod';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { type AuditSink, type ColibriServerContext, createServer, registerColibriTool, start } from 'colibri-mcp';
import { isIncluded, leafHash, type Digest } from 'colibri-mcp/integrity';
const sink: AuditSink | undefined = undefined;
const server: ColibriServerContext = createServer({ mode: 'FULL', ...(sink === undefined ? {} : { auditSink: sink }) });
registerColibriTool(server, 'echo', { inputSchema: z.strictObject({ word: z.string() }) }, ({ word }) => word.length);
createServer({ transport: InMemoryTransport.createLinkedPair()[0] });
registerColibriTool(server, 'all', { inputSchema: z.object({ n: z.int().default(1) }) }, ({ n }): number => n);
const leaf: Digest = leafHash('text');
export const started: Promise<void> = start(server);
export const included: boolean = isIncluded({ index: 0, size: 1, leaf, root: leaf, proof: [] });
`;

const WRONG = `
import { createServer } from 'colibri-mcp';
import { leafHash, notThere } from 'colibri-mcp/integrity';
createServer({ mode: 'LOUD' });
export const leaf: number = leafHash('text');
export { notThere };
`;
