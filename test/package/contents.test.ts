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
    return entries.filter((name) => statSync(join(place, name)).isFile());
  };

  promiseTest('package/contents', 'program, library, types, skills and documents', () => {
    const allowed =
      /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/[\w.-]+\.(?:js|cjs)|dist\/types\/.+\.d\.ts|\.agents\/skills\/.+)$/;
    const contents = listContents();
    expect(contents.filter((name) => !allowed.test(name) || /test|bench|\.cache$|\.map$/.test(name))).toEqual([]);
    expect(contents).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'dist/colibri.js',
        'dist/integrity.browser.js',
        'dist/integrity.js',
        'dist/program.cjs',
        'dist/server.js',
        'dist/hash-worker.js',
        'dist/types/integrity/index.d.ts',
        'dist/types/server.d.ts',
      ]),
    );
  });

  promiseTest('package/contents', 'the package is small', () => {
    expect(statSync(tarball).size).toBeLessThan(1_000_000);
  });

  promiseTest('package/contents', 'the package has no required dependencies', () => {
    const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed.filter((name) => name !== 'better-sqlite3')).toEqual(['colibri-mcp']);
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

  promiseTest('package/types', 'the types import only declared packages', () => {
    const { peerDependencies } = JSON.parse(
      readFileSync(join(project, 'node_modules/colibri-mcp/package.json'), 'utf8'),
    ) as { peerDependencies: Record<string, string> };
    const place = join(project, 'node_modules/colibri-mcp');
    const text = listContents()
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(place, name), 'utf8'))
      .join('\n');
    const named = [...text.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^.'"][^'"]*)['"]/g)].map(([, name]) => name ?? '');
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !(name in peerDependencies) && !name.startsWith('node:'))).toEqual([]);
  });

  promiseTest('package/types', 'a strict program compiles, and a wrong one does not', () => {
    const place = join(folder, 'typed');
    installInto(place, tarball);
    linkPackages(place, 'zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core');
    linkPackages(place, '@types/node', 'undici-types');
    writeFileSync(join(place, 'right.ts'), RIGHT);
    writeFileSync(join(place, 'wrong.ts'), WRONG);
    for (const flags of RESOLUTIONS) {
      const { stdout } = run(place, bin('tsc'), 'right.ts', 'wrong.ts', ...STRICT, ...flags);
      expect(stdout.match(/^\S+\.ts(?=\()|TS\d+/gm), flags.join(' ')).toEqual(
        ['TS2305', 'TS2322', 'TS2322'].flatMap((code) => ['wrong.ts', code]),
      );
    }
  });
});

const STRICT = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'ES2023', '--types', 'node'];
const RESOLUTIONS = [
  // The declarations themselves are checked too, once: that takes the compiler some seconds.
  ['--module', 'NodeNext', '--skipLibCheck', 'false'],
  ['--module', 'ESNext', '--moduleResolution', 'Bundler', '--skipLibCheck'],
];

const RIGHT = `
import * as z from 'zod';
import { type AuditSink, type ColibriServerContext, createServer, registerColibriTool, start } from 'colibri-mcp';
import { isIncluded, leafHash, type Digest } from 'colibri-mcp/integrity';
const sink: AuditSink | undefined = undefined;
const server: ColibriServerContext = createServer({ mode: 'FULL', ...(sink === undefined ? {} : { auditSink: sink }) });
registerColibriTool(server, 'echo', { inputSchema: z.strictObject({ word: z.string() }) }, ({ word }) => word.length);
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
