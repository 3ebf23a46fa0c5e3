import { spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { describe, expect } from 'vitest';
import { EVERYTHING_HOSTILE, HOSTILE_TEXTS } from '../support/fixtures/hostile-text.ts';
import { PROGRAM, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { atTerminal, listCalls, withLedger } from './support.ts';

const LONG = 'x'.repeat(100_000);

describe('what a person types', () => {
  promiseTest('people/input', 'bad usage is refused before anything is opened', () =>
    atTerminal(async ({ path, lines, run, refused }) => {
      await lines('add', 'One');
      for (const args of [['add'], ['start', 'T-\u0661'], ['add', 'x', '--as', 'a\u202eb']]) {
        const { status, stdout, stderr } = await run(args);
        expect([args, status, stdout]).toEqual([args, 3, '']);
        expect(stderr).toMatch(/^error: [^\n]*\nRun colibri \w+ --help for usage\.\n$/);
        const asked = await run([...args, '--json']);
        expect([args, asked.status, asked.stderr]).toEqual([args, 3, '']);
        expect(JSON.parse(asked.stdout)).toEqual({
          verdict: 'bad input',
          message: expect.stringMatching(/^[^\n]*; run colibri \w+ --help for usage$/) as string,
        });
      }
      expect((await run(['add', '--', 'x', '--json'])).stderr).toMatch(/^error: too many arguments/);
      expect(await refused(3, 'edit', '1')).toBe(
        'colibri edit: nothing to change; run colibri edit --help to see the fields',
      );
      expect(await listCalls(path)).toHaveLength(1);
    }),
  );

  promiseTest('people/input', 'hostile text is refused, or stored as it is and shown escaped', () =>
    atTerminal(async ({ path, run, refused, lines }) => {
      expect(await refused(3, 'add', 'a\u0007b')).toBe(
        'colibri add: title contains a control character; run colibri add --help',
      );
      expect(await refused(3, 'add', LONG)).toBe(
        'colibri add: title has more than 256 characters; run colibri add --help',
      );
      expect(await refused(3, 'add', '')).toBe('colibri add: title is empty; run colibri add --help');
      expect(await refused(3, 'add', ' \u200b')).toBe('colibri add: title is blank; run colibri add --help');
      const fits = Object.values(HOSTILE_TEXTS)
        .filter((text) => !/\p{Cc}/u.test(text))
        .join(' ');
      const { status, stdout, stderr } = await run(['add', fits]);
      expect([status, stdout.match(/[\p{Cc}\p{Cf}\u2028\u2029]/gu)]).toEqual([0, ['\n']]);
      expect(stderr.match(/[\p{Cc}\p{Cf}\u2028\u2029]/gu)?.join('') ?? '').toMatch(/^\n?$/);
      expect((await run(['note', '1', '-'], EVERYTHING_HOSTILE)).status).toBe(3);
      expect((await run(['note', '1', '-'], LONG)).status).toBe(3);
      expect((await run(['note', '1', '-'], Buffer.from([0x61, 0xff, 0xfe]))).stderr).toBe(
        'colibri note: the text on standard input is not valid UTF-8; convert it first\n',
      );
      expect((await run(['note', '1', '-'], Buffer.alloc(2_000_000, 'y'))).stderr).toMatch(/longer than 1048576 bytes/);
      expect((await run(['note', '1', '-'], ' \n')).status).toBe(3);
      expect((await run(['add', '-', '--description', '-'], 'x')).stderr).toMatch(
        /only one text can come from standard/,
      );
      await withLedger(path, (database) =>
        database.read(async (reader) => {
          expect(await reader.query('SELECT title FROM tasks')).toEqual([{ title: fits }]);
          // A text that is refused must not leave an empty session behind.
          expect(await reader.query('SELECT 1 FROM sessions')).toEqual([]);
        }),
      );
      expect(await lines('edit', '1', '--title', '-x', '--assignee', '--title')).toEqual([
        expect.stringMatching(/^T-0001 changed: title, assignee \(entry \d+\)$/),
      ]);
      expect(await lines('edit', '1', '--assignee', '', '--label', '')).toHaveLength(1);
      expect(await lines('add', '--', '--title')).toEqual([
        expect.stringMatching(/^T-0002 todo: --title \(entry \d+\)$/),
      ]);
    }),
  );

  promiseTest('people/input', 'a closed standard output loses the output and not the change', () =>
    atTerminal(async ({ path, env, folder }) => {
      const child = spawn(process.execPath, [PROGRAM, 'add', 'One'], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout.destroy();
      const status = await new Promise((resolve) => child.on('close', resolve));
      expect(status).toBe(0);
      expect(await listCalls(path)).toMatchObject([{ tool: 'task_create', outcome: 'ok' }]);
    }),
  );

  promiseTest('people/names', 'the name of the user, or the one that --as gives', () =>
    atTerminal(async ({ path, env, folder, lines }) => {
      const own = await runColibri(['add', 'One'], { ...env, COLIBRI_AGENT_ID: 'claude-code' }, folder);
      expect(own.status).toBe(0);
      await lines('add', 'Two', '--as', 'person:bob');
      await lines('add', 'Three', '--as', 'claude-code');
      expect((await listCalls(path)).map(({ actor }) => actor)).toEqual([
        `person:${userInfo().username}`,
        'person:bob',
        'person:claude-code',
      ]);
      const server = await runColibri(['serve'], { ...env, COLIBRI_AGENT_ID: 'person:bob' }, folder);
      expect([server.status, server.stderr]).toEqual([
        78,
        expect.stringMatching(/COLIBRI_AGENT_ID: "person:bob" is not/),
      ]);
    }),
  );
});
