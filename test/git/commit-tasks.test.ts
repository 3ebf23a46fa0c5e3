import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { changedTask, newTask } from '../../src/domains/tasks/change.ts';
import { insertTask, projectCounter, updateTask } from '../../src/domains/tasks/repository.ts';
import { formatTaskId } from '../../src/ids.ts';
import { commitKey, parseEntry } from '../../src/integrity/index.ts';
import { nextNumbers } from '../../src/ledger/counters.ts';
import { encodeCommits, type SpooledCommit } from '../../src/recorder/git/spooled-commits.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const LATER = '2999-01-01T00:00:00.000Z';
const EARLIER = '2020-01-01T00:00:00.000Z';

type Report = (fields?: Partial<SpooledCommit>, at?: string, folder?: string) => Promise<string | undefined>;

/** Reports a commit as the hook of git does, and returns the task under which it was recorded. */
function withReports(work: (server: TestServer, report: Report, spool: string) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const spool = join(folder, '.colibri', 'spool');
    mkdirSync(join(folder, '.colibri'), { mode: 0o700 });
    const server = await openServer(join(folder, 'colibri.db'));
    const report: Report = async (fields = {}, at = LATER, workTree = process.cwd()) => {
      const sha = randomBytes(20).toString('hex');
      const commit = { ...COMMIT, sha, ...fields };
      const text = encodeCommits({ v: 1, at, folder: workTree, commits: [commit] });
      writeToSpool(spool, text, { at: new Date(), isDurable: false });
      const { rejected } = await ingest(server.database, spool);
      if (rejected > 0) return 'rejected';
      const [row] = await server.query<{ entry: string }>(
        'SELECT entry FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx WHERE key = $1',
        [commitKey(commit.sha, commit.rewrites ?? undefined)],
      );
      return parseEntry(row?.entry ?? '')?.['task_id'] as string | undefined;
    };
    try {
      await work(server, report, spool);
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

/** What the calls of an agent do that creates a task and claims it. */
async function abandonTask(db: Transaction, actor: string): Promise<void> {
  const [project, at] = ['default', new Date().toISOString()];
  const [taskNo, sequence] = await nextNumbers(db, 'task', projectCounter(project));
  const task_id = formatTaskId(taskNo);
  const task = newTask(
    { title: 'Abandoned', status: 'todo' },
    { task_id, sequence, project, workflow: 'board', at, actor },
  );
  await insertTask(db, task, { unmet: 0 });
  const after = changedTask(task, { task_id, status: 'in_progress' }, actor, at);
  await updateTask(db, { before: { task, token: null, unmet: 0 }, after, isClaim: true, unmet: 0 });
}

const HASH = 'ab'.repeat(20);
const COMMIT: SpooledCommit = {
  sha: HASH,
  tree: HASH,
  parents: [],
  rewrites: null,
  tasks: [],
  is_decided: false,
  salt: '00'.repeat(16),
  content: '{"paths":[]}',
};

describe('the task of a commit', () => {
  promiseTest('git/task', 'a trailer, the only claim of the work tree, or none', () =>
    withReports(async (server, report) => {
      for (const title of ['One', 'Two']) await server.createTask({ title, status: 'todo' });
      expect(await report()).toBeUndefined();
      await server.call('task_update', { task_id: 'T-0001', status: 'in_progress' });
      expect(await report()).toBe('T-0001');
      expect(await report({ rewrites: HASH })).toBe('T-0001');
      // Trailers decide, also against the claim; one that names no task, or two, names none.
      expect(await report({ tasks: ['T-0002'], is_decided: true })).toBe('T-0002');
      expect(await report({ tasks: ['T-0002'] })).toBe('T-0002');
      for (const tasks of [['T-0009'], ['x'], ['T-0001', 'T-0002'], ['T-0001 and more']])
        expect(await report({ tasks })).toBeUndefined();
      expect(await report({ is_decided: true })).toBeUndefined();
      // A claim that came after the commit, and an agent of another work tree.
      expect(await report({}, EARLIER)).toBeUndefined();
      expect(await report({}, LATER, '/elsewhere')).toBeUndefined();
      await server.call('task_update', { task_id: 'T-0002', status: 'in_progress' });
      expect(await report()).toBeUndefined();
    }),
  );

  promiseTest('git/task', 'however many tasks agents have left in work', () =>
    withReports(async (server, report) => {
      const gone = await openServer(server.path, 'gone', { settings: { COLIBRI_AGENT_ID: 'gone' } });
      await gone.call('task_list', {});
      await gone.database.write({ durable: false }, async (db) => {
        for (let count = 1; count <= 101; count += 1) await abandonTask(db, 'gone');
      });
      await gone.close();
      expect(await report()).toBeUndefined();
      const { task_id } = await server.createTask({ title: 'Now', status: 'todo' });
      await server.call('task_update', { task_id, status: 'in_progress' });
      expect(await report()).toBe(task_id);
    }),
  );

  promiseTest('git/commits', 'a report that is made twice, and reports that no hook wrote', () =>
    withReports(async (server, report) => {
      await report();
      await report({ sha: HASH, tasks: ['T-0001'] });
      await report({ sha: HASH });
      const [row] = await server.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM observations');
      expect(row?.rows).toBe(2);
      const forged: Partial<Record<keyof SpooledCommit, unknown>>[] = [
        { sha: 'main' },
        { tree: '' },
        { parents: [HASH, HASH] },
        { parents: Array.from({ length: 65 }, (_, index) => index.toString(16).padStart(40, '0')) },
        { rewrites: 'x' },
        { tasks: Array.from({ length: 17 }, () => 'T-0001') },
        { is_decided: 1 },
        { salt: 'short' },
        { content: '{}' },
        { content: '{"paths":["a\\nb"]}' },
        { content: '{"paths":[],"more":1}' },
        { note: 'more' } as object,
      ];
      for (const fields of forged) expect(await report(fields as Partial<SpooledCommit>)).toBe('rejected');
    }),
  );
});
