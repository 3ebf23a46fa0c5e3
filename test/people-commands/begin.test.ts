import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { cleanEnvironment, PROGRAM, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { atTerminal } from './person-terminal.ts';

const SCRIPT = '/usr/bin/script';

describe.runIf(existsSync(SCRIPT))('a pseudo-terminal', () => {
  promiseTest('people/input', 'a text is typed until Ctrl-D, and its echo is all that the terminal shows of it', () =>
    atTerminal(async ({ env, folder, lines }) => {
      await lines('add', 'One');
      const command = [process.execPath, PROGRAM, 'note', '1', '-', '--as', 'ada'].map((word) => `'${word}'`).join(' ');
      const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
        cwd: folder,
        env: { ...env, TERM: 'xterm-256color' },
      });
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
      child.stdin.write('typed by hand\n\u0004');
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
      expect(shown.replaceAll('\u0004', '').replaceAll('^D\b\b', '')).toBe(
        'typed by hand\r\nA-0001 opened for T-0001 by colibri note (entry 5)\r\nΘ-0001 decision on T-0001, in A-0001 (entry 8)\r\n',
      );
    }),
  );
});

describe('a folder without a ledger', () => {
  promiseTest('people/begin', 'only add and call begin one, where a server would', async () => {
    await atTerminal(async ({ folder, lines }) => {
      await lines('add', 'so that there is a ledger to verify');
      const inside = join(folder, 'repo', 'deep');
      mkdirSync(inside, { recursive: true });
      mkdirSync(join(folder, 'repo', '.git'));
      const env = cleanEnvironment({ HOME: folder });
      const run = (...args: string[]) => runColibri(args, env, inside);
      for (const args of [
        ['start', '1'],
        ['edit', '1', '--title', 'x'],
        ['note', '1', 'x'],
        ['seal', 'A-1'],
      ]) {
        const { status, stderr } = await run(...args);
        expect([status, stderr]).toEqual([
          2,
          expect.stringMatching(/^colibri \w+: no ledger at .*; run colibri add "title" to create one\n$/),
        ]);
      }
      const ledger = join(folder, 'repo', '.colibri', 'colibri.db');
      const shared = `Using the ledger of ${join(folder, 'repo')}: ${inside} is inside it.\n`;
      expect((await run('add', 'One')).stderr).toBe(`${shared}Created the ledger ${ledger}.\n`);
      expect((await run('add', 'Two')).stderr).toBe(shared);
      const { status, stderr } = await runColibri(['add', 'x'], { ...env, COLIBRI_MODE: 'READONLY' }, inside);
      expect([status, stderr]).toEqual([1, expect.stringContaining('set COLIBRI_MODE=FULL, or unset it')]);
    });
  });
});
