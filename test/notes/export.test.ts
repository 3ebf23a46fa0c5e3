import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { writeNote } from '../../src/cli/notes/vault/folder.ts';
import { redactEntry } from '../../src/cli/redaction/redact-entry.ts';
import { type Crew, withCrew } from '../support/crew/crew.ts';
import { EVERYTHING_HOSTILE, findRaw } from '../support/hostile-text.ts';
import { observe } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, withServer } from '../support/test-server.ts';
import { expectSound, TestVault } from './vault.ts';

const propertiesOf = (vault: TestVault, note: string) =>
  parse(vault.read(note).split('\n---\n')[0] ?? '') as Record<string, unknown>;

/** Steps of a story: each changes what some notes show. */
const STORY: readonly (readonly [what: string, step: (crew: Crew) => Promise<unknown>])[] = [
  ['a first task', ({ alice }) => alice.createTask({ title: 'One', status: 'todo', labels: ['a b', 'c'] })],
  ['a child', ({ alice }) => alice.createTask({ title: 'Two', status: 'todo', parent_id: 'T-0001' })],
  ['a dependency', ({ bob }) => bob.createTask({ title: 'Three', status: 'todo', depends_on: ['T-0001', 'T-0002'] })],
  ['a claim', ({ bob }) => bob.updateTask({ task_id: 'T-0001', status: 'in_progress' })],
  ['a session', ({ bob }) => bob.startSession({ task_id: 'T-0001', auditor_id: 'bob', scope: 'deep', reason: 'why' })],
  [
    'a decision',
    ({ bob }) => bob.recordThought({ task_id: 'T-0001', type: 'decision', content: 'a\n\nb', branch: 'x' }),
  ],
  [
    'one elsewhere',
    ({ carol }) => carol.recordThought({ task_id: 'T-0002', type: 'risk', content: 'c', session_id: 'A-0001' }),
  ],
  [
    'a commit that git never reported',
    ({ bob }) =>
      bob.recordThought({
        task_id: 'T-0001',
        type: 'decision',
        content: 'd',
        commit_sha: 'cdcdcdc',
        tests_run: ['npm test'],
      }),
  ],
  ['another parent', ({ alice }) => alice.updateTask({ task_id: 'T-0002', parent_id: 'T-0003', depends_on: [] })],
  [
    'no dependency',
    ({ alice }) => alice.updateTask({ task_id: 'T-0003', depends_on: ['T-0002'] }).catch(() => undefined),
  ],
  ['another title', ({ bob }) => bob.updateTask({ task_id: 'T-0001', title: 'Uno', progress: 50 })],
  ['reports', ({ alice }) => observe(alice.path)],
  ['a read', ({ carol }) => carol.listTasks({})],
  ['review', ({ bob }) => bob.updateTask({ task_id: 'T-0001', status: 'review' })],
  ['a seal', ({ alice }) => alice.finalize({ session_id: 'A-0001' })],
];

/** A redaction changes notes of any age. */
const REDACTIONS: typeof STORY = [
  ['a redacted decision', redactFirst('thoughts', 'idx')],
  ['a redacted reason', redactFirst('sessions', 'start_idx')],
  ['a redacted report', redactFirst('observations', 'idx')],
  ['a redacted title of a task', redactFirst('tasks', 'event_idx')],
  ['an earlier one', redactFirst('task_versions', 'idx')],
];

function redactFirst(table: string, index: string): (crew: Crew) => Promise<unknown> {
  return ({ alice: { database } }) =>
    database.write({ durable: false }, async (db) => {
      const [row] = await db.query<{ idx: number }>(`SELECT MIN(${index}) AS idx FROM ${table}`);
      const decision = { reason: 'a secret', actor: 'person:ada', at: '2026-04-08T22:00:00.000Z' };
      await redactEntry(db, row?.idx ?? -1, decision);
    });
}

describe('the notes', () => {
  promiseTest('notes/vault', 'have properties, links and the text of the records', () =>
    withCrew(async (crew) => {
      for (const [, step] of STORY) await step(crew);
      const vault = new TestVault(crew.alice);
      const { notes, written, left_alone } = await vault.export();
      expect(left_alone).toEqual([]);
      const paths = vault.list();
      expect([notes, written]).toEqual([paths.length, paths.length]);
      expect(paths.filter((path) => !path.startsWith('days/'))).toEqual([
        'Colibri.md',
        'agents/alice.md',
        'agents/bob.md',
        'agents/carol.md',
        'sessions/A-0001.md',
        'tasks/T-0001.md',
        'tasks/T-0002.md',
        'tasks/T-0003.md',
      ]);
      expectSound(vault);
      expect(propertiesOf(vault, 'tasks/T-0001.md')).toMatchObject({
        note: 'task',
        id: 'T-0001',
        title: 'Uno',
        aliases: ['Uno'],
        status: 'review',
        progress: 50,
        labels: ['a b', 'c'],
        created_by: '[[agents/alice|alice]]',
      });
      const task = vault.read('tasks/T-0001.md');
      for (const text of [
        '# T-0001 Uno',
        '> a\n>\n> b',
        '- branch: x',
        'Bash exit 0: npm test',
        'cdcdcdc (**said**)',
        'npm test (**said**)',
        'todo → in_progress',
      ])
        expect(task).toContain(text);
      expect(vault.read('tasks/T-0003.md')).toContain('- Children: [[tasks/T-0002|T-0002]]');
      const session = vault.read('sessions/A-0001.md');
      for (const text of ['A deep session of [[tasks/T-0001|T-0001]]', '> why', 'sealed: "', '[[tasks/T-0002|T-0002]]'])
        expect(session).toContain(text);
      expect(vault.read('agents/bob.md')).toContain('- Worked on: [[tasks/T-0003|T-0003]], [[tasks/T-0001|T-0001]]');
      expect(vault.read('days/2026-04-08.md')).toContain('5 observed actions, 1 commit');
      expect(vault.read('Colibri.md')).toContain('[[days/2026-04-08|2026-04-08]]');
    }),
  );

  promiseTest('notes/unchanged', 'after each change, an export gives the same vault as one into a new folder', () =>
    withCrew(async (crew) => {
      const kept = new TestVault(crew.alice);
      const later = new TestVault(crew.alice);
      for (const [what, step] of [...STORY, ...REDACTIONS]) {
        await step(crew);
        const before = kept.times();
        const { written } = await kept.export();
        await later.export(true);
        const fresh = new TestVault(crew.alice);
        await fresh.export();
        expect(kept.content(), what).toEqual(fresh.content());
        expect(later.content(), what).toEqual(fresh.content());
        expectSound(kept);
        const changed = Object.entries(kept.times()).filter(([path, time]) => before[path] !== time);
        expect(changed, what).toHaveLength(written);
      }
    }),
  );

  promiseTest('notes/unchanged', 'an export without changes reads a few rows and writes nothing', () =>
    withServer(async (server) => {
      for (let number = 1; number <= 30; number += 1) await server.createTask({ title: `Task ${number}` });
      const vault = new TestVault(server);
      expect((await vault.export()).written).toBe(33);
      const [content, times] = [vault.content(), vault.times()];
      for (const isNew of [true, false]) {
        expect(await vault.export(isNew)).toEqual({ notes: 33, written: 0, left_alone: [] });
        expect(vault.statements).toBeLessThan(10);
      }
      expect([vault.content(), vault.times()]).toEqual([content, times]);
      await server.listTasks({});
      expect((await vault.export(true)).written).toBe(0);
      await server.updateTask({ task_id: 'T-0007', title: 'Another' });
      expect((await vault.export(true)).written).toBe(3);
      rmSync(vault.path('tasks/T-0008.md'));
      rmSync(vault.path('agents/tester.md'));
      expect((await vault.export(true)).written).toBe(2);
      rmSync(vault.path('.colibri-notes.json'));
      expect((await vault.export(true)).written).toBe(0);
    }),
  );
});

describe('an export that is stopped', () => {
  promiseTest('notes/unchanged', 'leaves whole notes, and the next one writes the others', () =>
    withServer(async (server) => {
      for (const title of ['One', 'Two', 'Three']) await server.createTask({ title });
      const vault = new TestVault(server);
      const stopped = AbortSignal.abort();
      expect((await vault.export(true, stopped)).written).toBe(0);
      expect((await vault.export(true)).written).toBe(6);
      await server.updateTask({ task_id: 'T-0002', title: 'Dos' });
      await vault.export(true, stopped);
      expect(vault.read('tasks/T-0002.md')).toContain('Two');
      await vault.export(true);
      expect(vault.read('tasks/T-0002.md')).toContain('Dos');
    }),
  );

  promiseTest('notes/own', 'a folder that was moved away is made again, and a link in its place is refused', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'One' });
      const vault = new TestVault(server);
      await vault.export();
      rmSync(vault.path('tasks'), { recursive: true });
      expect((await vault.export()).written).toBe(1);
      rmSync(vault.path('tasks'), { recursive: true });
      symlinkSync(vault.path('days'), vault.path('tasks'));
      await expect(vault.export()).rejects.toThrow(/tasks is not a folder/);
    }),
  );

  promiseTest('notes/own', 'a note that cannot be written is named', () =>
    withServer(async (server) => {
      const vault = new TestVault(server);
      const note = { path: 'missing/note.md', properties: {}, body: [] };
      expect(() => writeNote(vault.root, note, 'id')).toThrow(/^cannot write .*missing.note\.md: .*; make room/);
    }),
  );
});

/** Text that would do something in a note. */
const ACTIVE = [
  '---\ncolibri: forged\n---',
  '<!-- colibri: write below this line; everything above it is replaced -->',
  '[[Secret]] ![[Secret]] [x](javascript:alert(1)) ![y](https://evil.example/y.png)',
  '<script>alert(1)</script> <img src=x onerror=alert(1)> <% tp.file.delete() %>',
  '```dataviewjs\ndv.pages()\n```\n`= this.file` `$= dv.x`',
  '#tag key:: value %%hidden%% ^id ==mark== $x$',
  '- [ ] a task\n1. one\n> quote\n    code\n| a | b |\n===',
];

describe('hostile text', () => {
  promiseTest('notes/hostile', 'in every field of every record is only shown', () =>
    withServer(
      async (server) => {
        const text = ACTIVE.join('\n');
        const line = text.replaceAll('\n', ' ');
        await server.createTask({
          title: line.slice(0, 200),
          description: text,
          status: 'todo',
          labels: ['[[x]]', '<%'],
        });
        await server.createTask({ title: EVERYTHING_HOSTILE.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 200) });
        await server.updateTask({ task_id: 'T-0001', status: 'blocked', blocked_reason: line.slice(0, 500) });
        await server.startSession({ task_id: 'T-0001', auditor_id: '[[Secret]] <% x %>', reason: text });
        await server.recordThought({
          task_id: 'T-0001',
          type: 'decision',
          content: text,
          branch: '[[x]]',
          tests_run: ['<% x %> [[x]]'],
          metadata: { '[[x]]': '<script>' },
        });
        const other = await openServer(server.path, '../../[[Secret]]|<% x %>');
        await other.updateTask({ task_id: 'T-0002', priority: 'high' });
        await other.close();
        const vault = new TestVault(server);
        expect((await vault.export()).left_alone).toEqual([]);
        expectSound(vault);
        expect(
          vault
            .list()
            .filter(
              (path) =>
                !/^(?:Colibri|tasks\/T-000[12]|sessions\/A-0001|agents\/[a-z0-9-]+|days\/[\d-]+)\.md$/.test(path),
            ),
        ).toEqual([]);
        for (const [path, whole] of Object.entries(vault.content())) {
          const note = whole.replace(/\n<!-- colibri: .* -->\n$/, '');
          const body = note.split('\n---\n').slice(1).join('\n---\n');
          expect(findRaw(note), path).toEqual([]);
          expect(note, path).not.toMatch(/<|\[\[(?:Secret|x)/);
          expect(body, path).not.toMatch(/[^\\]`[$=]|^(?:#tag|- \[[ x]\]|> (?:#|-|>|\d+\.)|```| {4}\S)/m);
          expect(body, path).not.toMatch(/[^\\:]::|[^\\]%%|!\[|[^\\]\]\(|^---/m);
        }
      },
      { clientName: 'a <b>[[c]]</b> #d' },
    ),
  );
});
