import { describe, expect } from 'vitest';
import { atTerminal } from '../people-commands/person-terminal.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer } from '../support/test-server.ts';
import { claimTask, failed, observe, ran, updated } from './observed-server.ts';

interface ShownJson {
  readonly evidence: readonly { readonly value: string; readonly state: string; readonly entry?: number }[];
}

interface BoardJson {
  readonly boards: readonly {
    readonly columns: readonly {
      readonly cards: readonly { readonly task_id: string; readonly evidence?: object }[];
    }[];
  }[];
}

describe('the views of a task', () => {
  promiseTest('evidence/shown', 'show, board, log and their JSON', () =>
    atTerminal(async ({ path, folder, lines }) => {
      const server = await openServer(path, 'agent');
      const observed = observe(server, folder);
      const task_id = await claimTask(observed);
      await observed.report(failed('npm test', 2));
      await observed.report(ran('make'));
      const tests_run = ['npm test passed', 'make', 'cargo test \u001b[2J'.replace('\u001b', '\u202e')];
      await server.recordThought({ task_id, type: 'decision', content: 'why', commit_sha: 'abcdef1', tests_run });
      await server.createTask({ title: 'Says nothing', status: 'todo' });
      await server.close();

      const shown = await lines('show', task_id);
      expect(shown.filter((line) => /tests_run|commit_sha/.test(line))).toEqual([
        '│ commit_sha: abcdef1 (said)',
        expect.stringMatching(/^│ tests_run: npm test passed \(contradicted: exit 2, entry #\d+\)$/),
        expect.stringMatching(/^│ tests_run: make \(observed: exit 0, entry #\d+\)$/),
        expect.stringMatching(/^│ tests_run: cargo test [^\u202e]*\(said\)$/),
      ]);
      const { evidence } = JSON.parse((await lines('show', task_id, '--json')).join('\n')) as ShownJson;
      expect(evidence.map(({ state }) => state)).toEqual(['contradicted', 'observed', 'said', 'said']);

      const listed = await lines('board');
      expect(listed.find((line) => line.includes(task_id))).toMatch(
        / · 1\/4 observed · 1 contradicted {2}Compare words and deeds$/,
      );
      expect(listed.find((line) => line.includes('Says nothing'))).not.toMatch(/observed/);
      const columns = await lines('board', '--width', '100');
      expect(columns.some((line) => line.includes('1/4 observed'))).toBe(true);
      expect(columns.some((line) => line.includes('1 contradicted'))).toBe(true);
      const [logged = '', ...others] = await lines('log', '--tool', 'thought_record');
      expect([logged, others]).toEqual([expect.stringMatching(/ ok \d+ ms 1\/4 observed 1 contradicted \{/), []]);
      const call = JSON.parse((await lines('log', '--tool', 'thought_record', '--json')).join('\n')) as ShownJson;
      expect(call).toMatchObject({ task_id, thought_id: 'Θ-0001', tool: 'thought_record' });
      expect(call.evidence.map(({ state }) => state)).toEqual(['contradicted', 'observed', 'said', 'said']);
      const { boards } = JSON.parse((await lines('board', '--json')).join('\n')) as BoardJson;
      const cards = boards.flatMap((board) => board.columns.flatMap((column) => column.cards));
      expect(cards.map((one) => [one.task_id, one.evidence])).toEqual([
        ['T-0002', undefined],
        [task_id, { observed: 1, said: 2, contradicted: 1 }],
      ]);
    }),
  );

  promiseTest('cli/timeline', 'commands between review and done, and none after it', () =>
    atTerminal(async ({ path, folder, lines }) => {
      const server = await openServer(path, 'agent');
      const observed = observe(server, folder);
      const task_id = await claimTask(observed);
      await server.updateTask({ task_id, status: 'review' });
      await observed.report(updated(task_id, 'review'));
      await observed.report(ran('npm test'));
      await observed.report(failed('npm test', 3), { session: 's-2' });
      await server.recordThought({ task_id, type: 'decision', content: 'why', tests_run: ['npm test'] });
      await server.updateTask({ task_id, status: 'done' });
      await observed.report(updated(task_id, 'done'));
      await observed.report(failed('npm test', 9));
      await server.close();
      const events = await lines('timeline', task_id, '--observed');
      const runs = events.filter((line) => line.includes('npm test'));
      expect(runs).toEqual([expect.stringMatching(/ exit 0 after review npm test /)]);
      const [, entry] = /#(\d+)/.exec(runs[0] ?? '') ?? [];
      expect((await lines('show', task_id)).join('\n')).toContain(`npm test (observed: exit 0, entry #${entry})`);
      const json = (await lines('timeline', task_id, '--json')).map((line) => JSON.parse(line) as { kind: string });
      expect(json.filter((event) => 'after_review' in event)).toMatchObject([{ kind: 'observed', exit_code: 0 }]);
    }),
  );
});
