import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  colibri,
  createProject,
  expectWhole,
  ledgerOf,
  startColibri,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('colibri export', () => {
  promiseTest(
    'notes/vault',
    'reports what it wrote and what it skipped, and changes nothing in the ledger',
    async () => {
      const folder = createProject();
      await withAgent(folder, 'claude', async (agent) => {
        for (const title of ['One', 'Two']) await agent('task_create', { title });
      });
      const ledger = readFileSync(ledgerOf(folder));
      const first = colibri(folder, ['export', '--markdown', 'notes']);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      expect(first.stdout).toMatch(/notes: 5 notes, 5 written\.\n$/);
      writeFileSync(join(folder, 'notes', 'tasks', 'T-0002.md'), 'mine');
      writeFileSync(join(folder, 'notes', '.colibri-notes.json'), '');
      const again = colibri(folder, ['export', '--markdown', 'notes', '--json']);
      expect(again.status).toBe(0);
      expect(again.stderr).toBe('colibri export: tasks/T-0002.md is not from Colibri; skipped\n');
      expect(JSON.parse(again.stdout)).toEqual({
        verdict: 'done',
        folder: expect.stringMatching(/notes$/) as string,
        notes: 5,
        written: 0,
        left_alone: [{ path: 'tasks/T-0002.md', reason: 'is not from Colibri' }],
      });
      expect(readFileSync(ledgerOf(folder))).toEqual(ledger);
      expectWhole(folder);
    },
  );

  promiseTest('notes/refusals', 'without a folder, without a ledger and into a link', () => {
    const folder = createProject();
    expect(colibri(folder, ['export'])).toMatchObject({ status: 3, stdout: '' });
    const none = colibri(folder, ['export', '--markdown', 'notes'], { COLIBRI_DB_PATH: join(folder, 'none.db') });
    expect(none).toMatchObject({ status: 2, stdout: '' });
    expect(none.stderr).toMatch(/^colibri export: .*none\.db/);
    expect(existsSync(join(folder, 'notes'))).toBe(false);
  });

  promiseTest('notes/watch', 'a new task gets its note, and Ctrl-C ends the command', async () => {
    const folder = createProject();
    const noteOf = (id: string) => join(folder, 'notes', 'tasks', `${id}.md`);
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'One' });
      const watching = startColibri(folder, ['export', '--markdown', 'notes', '--watch']);
      await watching.seen((lines) => lines.some((line) => line.includes('Ctrl-C')));
      expect(existsSync(noteOf('T-0001'))).toBe(true);
      await agent('task_create', { title: 'Two' });
      await watching.seen((lines) => lines.includes('4 notes written.'));
      expect(readFileSync(noteOf('T-0002'), 'utf8')).toContain('# T-0002 Two');
      await agent('task_update', { task_id: 'T-0001', title: 'Uno' });
      await expect.poll(() => readFileSync(noteOf('T-0001'), 'utf8'), { timeout: 30_000 }).toContain('# T-0001 Uno');
      watching.child.kill('SIGINT');
      expect(await watching.ended).toEqual({ status: 0, stderr: '' });
      expect(watching.lines().at(-1)).toBe('Stopped.');
    });
    expectWhole(folder);
  });
});
