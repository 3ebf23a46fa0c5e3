import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { CliProject, finished, inherited } from '../support/cli-project.ts';
import type { Ran } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** A clone that is set up and built: it has the stamp and no newer source. */
function cloneBuilt(): CliProject {
  const place = new CliProject();
  mkdirSync(place.path('src/cli'), { recursive: true });
  mkdirSync(place.path('node_modules'));
  cpSync('src/cli/require-node.cjs', place.path('src/cli/require-node.cjs'), { preserveTimestamps: true });
  for (const name of ['scripts', 'dist', 'package.json', 'package-lock.json', '.npmrc'])
    cpSync(name, place.path(name), { recursive: true });
  if (existsSync('native')) symlinkSync(resolve('native'), place.path('native'));
  const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
  writeFileSync(place.path('node_modules/.colibri-build-setup'), lock);
  return place;
}

function npm(place: CliProject, args: readonly string[], input = ''): Promise<Ran> {
  const child = spawn('npm', args, { cwd: place.folder, env: inherited() });
  child.stdin.end(input);
  return finished(child);
}

/** Without what npm itself says: the banner of a script, and remarks about the configuration of this machine. */
const withoutNpm = (text: string) => text.replaceAll(/^(?:> .*|npm (?:warn|notice) .*|)\n/gm, '');

describe('npm', () => {
  promiseTest('demo/npm', 'passes the arguments on and prints nothing else', async () => {
    const { status, stdout, stderr } = await npm(cloneBuilt(), ['run', 'demo', '--', '--json']);
    expect({ status, stderr: withoutNpm(stderr) }).toEqual({ status: 0, stderr: '' });
    expect((JSON.parse(stdout) as { ok: boolean }).ok).toBe(true);
  });

  promiseTest('package/npm', 'npm start writes the protocol to stdout, and nothing else', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const { status, stdout } = await npm(cloneBuilt(), ['start'], `${JSON.stringify(request)}\n`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'colibri' } } });
  });

  promiseTest('package/npm', 'an unknown script is reported', async () => {
    const { status, stderr } = await npm(cloneBuilt(), ['run', 'nosuch']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^npm error Missing script: "nosuch"$/m);
  });
});
