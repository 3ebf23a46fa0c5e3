import { describe, expect } from 'vitest';
import { evidenceText } from '../../src/integrity/evidence/evidence-text.ts';
import { type BundledLog, compareInBundle } from '../../src/integrity/evidence/in-bundle.ts';
import { promiseTest } from '../support/promise-test.ts';
import { bundledLog } from './bundled-log.ts';
import { claimTask, failed, ran, updated, withObserved } from './observed-server.ts';

const OPEN = 'said: this file does not hold the observations that could decide it';

const textsOf = (log: BundledLog, taskId: string) =>
  compareInBundle(log, taskId).map((item) => evidenceText(item).replace(/#\d+/, '#'));

describe('evidence in a bundle', () => {
  promiseTest('evidence/exports', 'of a task, of the ledger, of a session, and with contents left out', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      await server.createTask({ title: 'Another task', status: 'todo' });
      const task_id = await claimTask(observed);
      await report(failed('npm test', 2));
      await report(ran('make'));
      const tests_run = ['npm test passed', 'make', 'cargo test'];
      await server.recordThought({ task_id, type: 'decision', content: 'why', tests_run, commit_sha: 'abcdef1' });
      const states = ['contradicted: exit 2, entry #', 'observed: exit 0, entry #', 'said'];
      const noReport = 'said: this file does not hold a report of git about it';

      const whole = await bundledLog(server);
      expect(textsOf(whole, task_id)).toEqual([...states, 'said']);
      const ofTask = await bundledLog(server, { kind: 'task', task_id });
      expect(ofTask.entries.length).toBeLessThan(ofTask.size);
      expect(textsOf(ofTask, task_id)).toEqual([...states, noReport]);
      const ofSession = await bundledLog(server, { kind: 'session', session_id: 'A-0001' });
      expect(textsOf(ofSession, task_id)).toEqual([OPEN, OPEN, OPEN, noReport]);

      // Without the content of the last run, that run may be one of any command.
      const last = ofTask.entries.findLast(({ fields }) => fields['action'] === 'shell');
      const redacted = ofTask.entries.map(({ disclosed, ...entry }) =>
        entry.index === last?.index || disclosed === undefined ? entry : { ...entry, disclosed },
      );
      expect(textsOf({ ...ofTask, entries: redacted }, task_id)).toEqual([OPEN, OPEN, OPEN, noReport]);
      const broken = ofTask.entries.map((entry) =>
        entry.index === last?.index ? { ...entry, disclosed: { salt: '00'.repeat(16), text: '{' } } : entry,
      );
      expect(textsOf({ ...ofTask, entries: broken }, task_id)).toEqual([OPEN, OPEN, OPEN, noReport]);

      // The beginning of the task is missing, so only what was found after it is certain.
      const tail = ofTask.entries.filter(({ fields }) => fields.kind !== 'task.created');
      expect(textsOf({ ...ofTask, entries: tail }, task_id)).toEqual([...states.slice(0, 2), OPEN, noReport]);
    }),
  );

  promiseTest('evidence/exports', 'what a session did after review is in no export of the task', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      const say = () =>
        server.recordThought({ task_id, type: 'decision', content: 'why', tests_run: ['npm test passed'] });
      await report(failed('npm test'));
      await say();
      await server.updateTask({ task_id, status: 'review' });
      await report(updated(task_id, 'review'));
      await report(ran('npm test'));
      await say();
      const [failure, success] = ['contradicted: exit 1, entry #', 'observed: exit 0, entry #'];
      expect(textsOf(await bundledLog(server), task_id)).toEqual([failure, success]);
      const scope = { kind: 'task', task_id } as const;
      expect(textsOf(await bundledLog(server, scope), task_id)).toEqual([failure, OPEN]);

      // A run after the unknown stretch decides; that of an attempt whose beginning is not disclosed does not.
      for (const status of ['backlog', 'todo', 'in_progress']) await server.updateTask({ task_id, status });
      await report(updated(task_id, 'in_progress'));
      await report(ran('npm test'));
      await say();
      const again = await bundledLog(server, scope);
      expect(textsOf(again, task_id)).toEqual([failure, OPEN, success]);
      const entries = again.entries.map(({ disclosed, ...entry }) =>
        entry.fields.kind === 'task.updated' || disclosed === undefined ? entry : { ...entry, disclosed },
      );
      expect(textsOf({ ...again, entries }, task_id)).toEqual([failure, OPEN, OPEN]);
    }),
  );
});
