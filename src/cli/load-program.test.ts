import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wrap } from './load-program.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('the built program', () => {
  let folder: string;
  let cache: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'colibri-program-'));
    cpSync('package.json', join(folder, 'package.json'));
    cpSync('dist', join(folder, 'dist'), { recursive: true });
    const name = readdirSync(join(folder, 'dist')).find((file) => /^program.*\.cache$/.test(file));
    cache = join(folder, 'dist', name ?? 'the build left no compiled code');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const start = () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(folder, 'dist/colibri.cjs'), '--version'], {
      encoding: 'utf8',
    });
    return { stdout: stdout.trim(), stderr, status };
  };
  const started = { stdout: version, stderr: '', status: 0 };

  it('has a code cache for this version of Node', () => {
    expect(cache).toContain(process.version);
    const program = join(folder, 'dist/program.cjs');
    expect(wrap(program, readFileSync(cache)).cachedDataRejected).toBe(false);
    // V8 compares the length of the source: code that was compiled from another text must not pass for this one's.
    writeFileSync(program, `${readFileSync(program, 'utf8')} `);
    expect(wrap(program, readFileSync(cache)).cachedDataRejected).toBe(true);
    expect(start()).toEqual(started);
  });

  it('starts without a code cache', () => {
    rmSync(cache);
    expect(start()).toEqual(started);
  });

  it.each([
    ['is empty', () => Buffer.alloc(0)],
    ['is not compiled code', () => Buffer.from('garbage')],
    ['is cut', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['is of another version of V8', (whole: Buffer) => Buffer.concat([Buffer.alloc(16), whole.subarray(16)])],
  ])('starts when the code cache %s', (_defect, damage) => {
    writeFileSync(cache, damage(readFileSync(cache)));
    expect(start()).toEqual(started);
  });
});
