import { describe, expect } from 'vitest';
import { ingest } from '../../src/recorder/ingest.ts';
import { withSpool } from '../recorder/spooled-server.ts';
import { setOptions } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { edited, ended, ran, updated } from './observed-server.ts';

describe('the search for a required run', () => {
  promiseTest('required/refused', 'whatever else was observed in between, only the last edit and run decide', () =>
    withSpool(async ({ server, spool, report }) => {
      await setOptions(server.path, 'default', { require_observed: ['npm test'] });
      const { task_id } = await server.createTask({ title: 'One', status: 'todo' });
      await server.startSession({ task_id, auditor_id: 'tester' });
      await server.recordThought({ task_id, type: 'decision', content: 'why' });
      for (const status of ['in_progress', 'review']) await server.updateTask({ task_id, status });
      const finish = { task_id, status: 'done' };
      const reasons = async () => {
        const { facts } = await server.refusal('task_update', finish);
        return (facts['missing_runs'] as { reason: string }[]).map(({ reason }) => reason);
      };
      /** More than are read at first. */
      const passBy = async () => {
        for (let count = 0; count < 260; count += 1) report({ tool_name: 'Read', tool_input: { file_path: 'a.ts' } });
        await ingest(server.database, spool);
      };
      report(updated(task_id, 'in_progress'));
      report(ran('npm test'));
      report(edited('a.ts'));
      await passBy();
      expect(await reasons()).toEqual(['edited']);
      report(edited('a.ts'));
      await ingest(server.database, spool);
      expect(await reasons()).toEqual(['edited']);
      report(ran('npm test'));
      report(ended('npm test'));
      await passBy();
      await server.updateTask(finish);
    }),
  );
});
