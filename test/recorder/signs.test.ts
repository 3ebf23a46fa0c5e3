import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { ingest } from '../../src/recorder/ingest.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer } from '../support/test-server.ts';
import { shell, withSpool } from './spooled-server.ts';

const HOURS = 3_600_000;

describe('an observed event', () => {
  for (const agent_id of [undefined, 'sub'])
    promiseTest(
      'recorder/signs',
      `by the fencing token of ${agent_id ?? 'the session'}, and as old as the event is`,
      () =>
        withSpool(async ({ folder, server, spool, report }) => {
          await server.createTask({ title: 'One', status: 'todo' });
          const answer = await server.call('task_update', { task_id: 'T-0001', status: 'in_progress' });
          const { claim } = answer.data as { claim: number };
          const claims = (session_id: string, token: number) => ({
            session_id,
            agent_id,
            tool_name: 'mcp__colibri__task_update',
            tool_input: { task_id: 'T-0001', status: 'in_progress' },
            tool_response: JSON.stringify({
              ok: true,
              data: { task_id: 'T-0001', status: 'in_progress', claim: token },
            }),
          });
          const now = new Date();
          const old = new Date(now.getTime() - 3 * HOURS);
          report(claims('s-1', claim), old);
          report(claims('stranger', claim + 1000), old);
          report(claims('unknown', -1), old);
          await ingest(server.database, spool);
          // As if the holder had been silent for three hours.
          await server.database.write({ durable: false }, (db) =>
            db.run(`UPDATE presence SET clock_ms = clock_ms - ${3 * HOURS}`),
          );
          const other = await openServer(join(folder, 'colibri.db'), 'other');
          const offered = async () => {
            const { data } = await other.call('task_next_actions', {});
            return (data as { next_actions: unknown[] }).next_actions.length;
          };
          try {
            report({ ...shell('npm test'), session_id: 's-1' }, old);
            for (const session_id of ['stranger', 'unknown', 'without a task'])
              report({ ...shell('npm test'), session_id }, now);
            await ingest(server.database, spool);
            expect(await offered()).toBe(1);
            report({ ...shell('npm run build'), session_id: 's-1' }, now);
            await ingest(server.database, spool);
            expect(await offered()).toBe(0);
          } finally {
            await other.close();
          }
        }),
    );
});
