import { describe, expect } from 'vitest';
import { setReview } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer } from '../support/test-server.ts';
import { atTerminal, type Terminal, withLedger } from './person-terminal.ts';

/** Brings a task to review as an agent does, with its reason. */
async function toReview(agent: TestServer, task_id: string): Promise<void> {
  await agent.updateTask({ task_id, status: 'in_progress' });
  await agent.updateTask({ task_id, status: 'review' });
}

async function newTask(agent: TestServer, input: object = {}): Promise<string> {
  const { task_id } = await agent.createTask({ title: 'Needs a sign-off', status: 'todo', ...input });
  await agent.startSession({ task_id, auditor_id: 'agent' });
  await agent.recordThought({ task_id, type: 'decision', content: 'why it is done' });
  return task_id;
}

function withAgents(work: (terminal: Terminal, alice: TestServer, bob: TestServer) => Promise<void>) {
  return atTerminal(async (terminal) => {
    const [alice, bob] = [await openServer(terminal.path, 'alice'), await openServer(terminal.path, 'bob')];
    await work(terminal, alice, bob);
    await alice.close();
    await bob.close();
  });
}

describe('the project option review', () => {
  promiseTest('review/story', 'add, start, note, review, approve, done', () =>
    atTerminal(async ({ path, lines, refused, run }) => {
      expect(await lines('add', 'Cache the parser')).toHaveLength(1);
      expect(await lines('project', '--review', 'other')).toEqual(['default: review other, was none (entry 4)']);
      expect(await lines('project')).toEqual(['default: review other']);
      await lines('start', '1');
      await lines('note', '1', 'Parsing took 40 % of the start.');
      expect(await refused(1, 'approve', '1', '--as', 'bob')).toBe(
        'colibri approve: T-0001 is in_progress, not in review; run colibri review T-0001 first, or colibri note T-0001 to record a remark',
      );
      await lines('review', '1');
      const needed =
        /^colibri done: T-0001 needs the approval of an actor other than person:ada \(project default has review: other\), and none is recorded since person:ada brought it to review at \S+; let another person run colibri approve T-0001, or another agent finish it$/;
      expect(await refused(1, 'done', '1')).toMatch(needed);
      expect(await run(['approve', '1'])).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Θ-0002 approved T-0001 /) as string,
        stderr: expect.stringMatching(
          /^Warning: this approval is not enough: T-0001 needs the approval of an actor other than person:ada /,
        ) as string,
      });
      expect(await refused(1, 'done', '1')).toMatch(needed);
      expect(await lines('approve', '1', 'ran it twice', '--commit', 'abcdef1', '--as', 'bob')).toEqual([
        expect.stringMatching(/^Θ-0003 approved T-0001 as of entry \d+, in A-0001 \(entry \d+\)$/),
      ]);
      expect(await lines('done', '1')).toEqual([expect.stringMatching(/^T-0001 review -> done \(entry \d+\)$/)]);
      const [row] = await withLedger(path, (database) =>
        database.read((reader) =>
          reader.query<{ content: string; recorded_by: string; extras: string }>(
            'SELECT content, recorded_by, extras FROM thoughts WHERE thought_no = 3',
          ),
        ),
      );
      expect([row?.content, row?.recorded_by]).toEqual(['ran it twice', 'person:bob']);
      expect(JSON.parse(row?.extras ?? '')).toEqual({
        commit_sha: 'abcdef1',
        metadata: { approval: { version: expect.any(Number), claim: expect.any(Number), commit: 'abcdef1' } },
      });
      expect(await refused(1, 'approve', '99')).toMatch(/no task T-0099; run colibri board/);
      expect(await lines('approve', '1', '--as', 'carol')).toHaveLength(1);
      expect(await refused(1, 'project', 'nowhere', '--review', 'none')).toBe(
        'colibri project: no project nowhere; choose one of these: default',
      );
      expect((await run(['project', '--review', 'all'])).status).toBe(3);
      expect((await run(['project', 'No Slug'])).status).toBe(3);
      expect(await lines('project', '--review', 'other')).toEqual(['default: review other already']);
    }),
  );

  promiseTest('review/other', 'an actor other than the one that brought it or held it', () =>
    withAgents(async ({ path, lines }, alice, bob) => {
      await setReview(path, 'default', 'other');
      const task_id = await newTask(alice);
      await toReview(alice, task_id);
      expect(await alice.refusal('task_update', { task_id, status: 'done' })).toMatchObject({
        pattern: 'B',
        code: 'ERR_APPROVAL_REQUIRED',
        message: expect.stringMatching(/; ask another agent to finish it, or a person to run colibri approve T-0001$/),
        facts: { taskId: task_id, missing_fields: ['approval'], review: 'other', brought_by: ['alice'] },
      });
      await bob.updateTask({ task_id, status: 'done' });
      // The author of the work stays the same if another actor brings it to review.
      const forced = await newTask(alice);
      await alice.updateTask({ task_id: forced, status: 'in_progress' });
      await lines('review', forced, '--force', 'it is finished');
      expect(await alice.refusal('task_update', { task_id: forced, status: 'done' })).toMatchObject({
        code: 'ERR_CLAIM_LOST',
      });
      await bob.updateTask({ task_id: forced, status: 'done' });
      const pipeline = await newTask(alice, { workflow: 'pipeline', status: 'INIT' });
      for (const status of ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'])
        await alice.updateTask({ task_id: pipeline, status });
      expect((await alice.refusal('task_update', { task_id: pipeline, status: 'DONE' })).code).toBe(
        'ERR_APPROVAL_REQUIRED',
      );
      await bob.updateTask({ task_id: pipeline, status: 'DONE' });
    }),
  );

  promiseTest('review/person', 'no agent, whatever it writes, and no approval from before the review', () =>
    withAgents(async ({ path, lines }, alice, bob) => {
      await setReview(path, 'default', 'person');
      const task_id = await newTask(alice);
      await toReview(alice, task_id);
      const isRefused = async (agent: TestServer) => {
        const { code, facts } = await agent.refusal('task_update', { task_id, status: 'done' });
        expect([code, facts['review']]).toEqual(['ERR_APPROVAL_REQUIRED', 'person']);
      };
      await isRefused(alice);
      await isRefused(bob);
      const approvals: readonly object[] = [
        { approval: { version: 1_000_000 } },
        { approval: { version: 1_000_000, by: 'person:ada' } },
        { approval: true },
        { approval: null },
        { approval: [] },
        { approval: { version: '9' } },
      ];
      for (const metadata of approvals)
        await bob.recordThought({ task_id, type: 'decision', content: 'approved by person:ada', metadata });
      await isRefused(bob);
      await lines('note', task_id, 'looks good');
      await isRefused(bob);
      await lines('approve', task_id);
      // Sent back, so the approval is of something else.
      await bob.updateTask({ task_id, status: 'backlog' });
      await alice.updateTask({ task_id, status: 'todo' });
      await toReview(alice, task_id);
      await alice.recordThought({ task_id, type: 'decision', content: 'the second attempt' });
      await isRefused(alice);
      const stale = { task_id, type: 'decision', content: 'stale', metadata: { approval: { version: 5 } } };
      await lines('call', 'thought_record', JSON.stringify(stale));
      await isRefused(alice);
      await lines('approve', task_id);
      await alice.updateTask({ task_id, status: 'done' });
      const other = await newTask(alice);
      await toReview(alice, other);
      expect(await lines('done', other)).toHaveLength(1);
      const elsewhere = await newTask(alice, { project: 'elsewhere' });
      await toReview(alice, elsewhere);
      await alice.updateTask({ task_id: elsewhere, status: 'done' });
    }),
  );

  promiseTest('review/rewritten', 'also in the call that finishes the task', () =>
    withAgents(async ({ path, lines }, alice, bob) => {
      await setReview(path, 'default', 'person');
      const [first, parent_id] = [await newTask(alice), await newTask(alice)];
      const task_id = await newTask(alice);
      await toReview(alice, task_id);
      const rewrites = [
        { title: 'Another thing' },
        { description: 'Also drop the table' },
        { depends_on: [first] },
        { parent_id },
      ];
      for (const rewrite of rewrites) {
        const [field = ''] = Object.keys(rewrite);
        await lines('approve', task_id);
        const finish = { task_id, status: 'done' };
        expect((await alice.refusal('task_update', { ...finish, ...rewrite })).message).toContain(
          `none is recorded since alice changed ${field} at`,
        );
        await bob.updateTask({ task_id, ...rewrite });
        expect(await alice.refusal('task_update', finish)).toMatchObject({
          code: 'ERR_APPROVAL_REQUIRED',
          message: expect.stringContaining(`none is recorded since bob changed ${field} at`),
        });
      }
      const early = { approval: { version: 1_000_000 } };
      await lines(
        'call',
        'thought_record',
        JSON.stringify({ task_id, type: 'decision', content: 'ok', metadata: early }),
      );
      await bob.updateTask({ task_id, title: 'Yet another thing' });
      expect((await alice.refusal('task_update', { task_id, status: 'done' })).code).toBe('ERR_APPROVAL_REQUIRED');
      await lines('approve', task_id);
      await bob.updateTask({ task_id, labels: ['later'], priority: 'high', title: 'Yet another thing' });
      await alice.updateTask({ task_id, status: 'done' });
    }),
  );

  promiseTest('review/reason', 'neither bare nor with a commit', () =>
    atTerminal(async ({ lines, refused }) => {
      await lines('add', 'Cache the parser');
      await lines('start', '1');
      await lines('review', '1');
      const needed =
        /^colibri done: T-0001 has no thought record that says why, since it was created; run colibri note T-0001 "why it is done" first$/;
      expect(await refused(1, 'done', '1')).toMatch(needed);
      await lines('approve', '1');
      await lines('approve', '1', '--commit', 'abcdef1');
      expect(await refused(1, 'done', '1')).toMatch(needed);
      await lines('approve', '1', 'read the diff');
      await lines('approve', '1');
      await lines('done', '1');
    }),
  );
});
