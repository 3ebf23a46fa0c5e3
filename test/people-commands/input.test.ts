import { spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { describe, expect } from 'vitest';
import { EVERYTHING_HOSTILE, HOSTILE_TEXTS } from '../support/hostile-text.ts';
import { PROGRAM, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { atTerminal, listCalls, withLedger } from './person-terminal.ts';

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

  promiseTest('people/input', 'a byte order mark before a text is no part of it', () =>
    atTerminal(async ({ path, run }) => {
      expect(await run(['call', 'task_create', '-'], '\ufeff{"title":"Parse dates"}\r\n')).toMatchObject({ status: 0 });
      expect(await run(['add', '-'], '\ufeffParse times')).toMatchObject({ status: 0 });
      const titles = await withLedger(path, (database) =>
        database.read((reader) => reader.query('SELECT title FROM tasks ORDER BY task_no')),
      );
      expect(titles).toEqual([{ title: 'Parse dates' }, { title: 'Parse times' }]);
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

  promiseTest('people/input', 'every problem is a sentence with the next step, without the words of a library', () =>
    atTerminal(async ({ run, refused, lines }) => {
      await lines('add', 'One');
      const said = async (tool: string, input: object) =>
        (await refused(3, 'call', tool, JSON.stringify(input))).replace(/; run colibri call --help$/, '');
      expect(await said('task_create', {})).toBe('colibri call: title is missing');
      expect(await said('task_create', { title: 7 })).toBe('colibri call: title must be a text, not a number');
      expect(await said('task_create', { title: null, priority: 'asap' })).toBe(
        'colibri call: title must be a text, not null; priority must be one of low, normal, high, critical',
      );
      expect(await said('task_list', { limit: 0, offset: 1.5 })).toBe(
        'colibri call: limit must be at least 1; offset must be a whole number, not 1.5',
      );
      expect(await said('task_list', { limit: 1e6, label: {} })).toBe(
        'colibri call: label must be a text, not an object; limit must be at most 500',
      );
      expect(await said('task_update', { task_id: '', labels: ['a', 'b'.repeat(65)], progress: 101 })).toMatch(
        /^colibri call: task_id must have 1 to 256 characters; progress must be at most 100; labels 1 has more than 64 characters$/,
      );
      expect(await refused(3, 'call', 'nosuch')).toMatch(
        /^colibri call: there is no tool nosuch; call one of task_create, .*, server_health$/,
      );
      expect(await refused(3, 'edit', '1', '--status', 'blocked')).toBe(
        'colibri edit: a blocked task needs a reason; run colibri block T-0001 "why"',
      );
      expect(await refused(3, 'block', '1', '')).toBe('colibri block: the reason is empty; run colibri block --help');
      expect(await refused(3, 'edit', '1', '--label', 'b'.repeat(65))).toBe(
        'colibri edit: labels item 1 has more than 64 characters; run colibri edit --help',
      );
      expect(await refused(1, 'seal', 't-99')).toBe(
        'colibri seal: no task T-0099; run colibri board to see existing tasks',
      );
      expect(await refused(1, 'seal', 't-1')).toMatch(/T-0001 has no live session; run colibri note T-0001 "why"/);
      await lines('cancel', '1');
      expect(await refused(1, 'start', '1')).toBe(
        'colibri start: T-0001 is cancelled, which is final; unassigned; run colibri add to create another task',
      );
      expect((await run(['log', '--tool', 'nosuch2'])).stderr).toMatch(/there is no tool nosuch2; choose one of/);
    }),
  );

  promiseTest('people/input', 'a name and a reason come from standard input like other texts', () =>
    atTerminal(async ({ path, run }) => {
      expect((await run(['add', 'One', '--assignee', '-'], 'codex\n')).status).toBe(0);
      expect((await run(['start', '1', '--as', 'bob'])).status).toBe(0);
      expect((await run(['edit', '1', '--progress', '5', '--force', '-'], 'two\nlines')).stderr).toBe(
        'colibri edit: the text on standard input is not a reason; give a reason in one line of at most 1000 characters\n',
      );
      expect((await run(['edit', '1', '--progress', '5', '--force', '-'], 'bob is away\n')).status).toBe(0);
      const rows = await withLedger(path, (database) =>
        database.read((reader) =>
          reader.query(`SELECT 1 FROM ledger_entries WHERE content LIKE '%"force":"bob is away"%'`),
        ),
      );
      expect(rows).toHaveLength(1);
      expect((await run(['show', '1', '--json'])).stdout).toContain('"progress":5');
    }),
  );

  promiseTest('people/input', 'a mode that keeps nothing is reported in a sentence', () =>
    atTerminal(async ({ env, folder, lines }) => {
      await lines('add', 'One');
      const inMode = (mode: string, args: readonly string[], more: Record<string, string> = {}) =>
        runColibri(args, { ...env, COLIBRI_MODE: mode, ...more }, folder);
      const read = await inMode('READONLY', ['call', 'task_list']);
      expect([read.status, read.stderr]).toEqual([
        0,
        'This call of task_list is not recorded: COLIBRI_MODE is READONLY.\n',
      ]);
      const refusal = await inMode('MINIMAL', ['add', 'Two']);
      expect([refusal.status, refusal.stderr]).toEqual([
        1,
        'colibri add: task_create is not available in MINIMAL mode; set COLIBRI_MODE=FULL, or unset it\n',
      ]);
      const test = await inMode('TEST', ['add', 'Two'], { COLIBRI_DB_PATH: '', COLIBRI_DATABASE_URL: '' });
      expect([test.status, test.stderr]).toEqual([0, expect.stringMatching(/^Warning: COLIBRI_MODE is TEST: .*\n$/)]);
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
      const named = await runColibri(['add', 'Four'], { ...env, COLIBRI_AGENT_ID: 'person:bob' }, folder);
      expect([named.status, named.stderr]).toEqual([
        0,
        'Warning: COLIBRI_AGENT_ID does not name who you are; use --as NAME for that.\n',
      ]);
      const shown = await runColibri(['board'], { ...env, COLIBRI_AGENT_ID: 'person:bob' }, folder);
      expect([shown.status, shown.stderr]).toEqual([0, '']);
      expect((await listCalls(path)).at(-1)?.actor).toBe(`person:${userInfo().username}`);
      const server = await runColibri(['serve'], { ...env, COLIBRI_AGENT_ID: 'person:bob' }, folder);
      expect([server.status, server.stderr]).toEqual([
        78,
        expect.stringMatching(/COLIBRI_AGENT_ID: "person:bob" is not/),
      ]);
    }),
  );
});
