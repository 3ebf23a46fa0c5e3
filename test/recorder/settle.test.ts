import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { listCoverage } from '../../src/recorder/reports/list-reports.ts';
import { listSpool } from '../../src/recorder/spool.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer } from '../support/test-server.ts';
import { readObserved, shell, withSpool } from './spooled-server.ts';

/** The kinds of the newest entries, oldest first. */
async function lastKinds(server: TestServer, count: number): Promise<string[]> {
  const rows = await server.query('SELECT entry FROM ledger_entries ORDER BY idx DESC LIMIT $1', [count]);
  return rows.reverse().map(({ entry }) => (JSON.parse(String(entry)) as { kind: string }).kind);
}

describe('a server', () => {
  promiseTest('recorder/before-calls', 'also in a spool that was created after its start', () =>
    withSpool(async ({ server, spool, report }) => {
      await server.createTask({ title: 'One' });
      expect(existsSync(spool)).toBe(false);
      report(shell('npm test'));
      report(shell('git commit'));
      await server.createTask({ title: 'Two' });
      expect(await lastKinds(server, 5)).toEqual([
        'observed',
        'observed',
        'action.enter',
        'task.created',
        'action.exit',
      ]);
      expect(listSpool(spool)).toEqual([]);
      rmSync(spool, { recursive: true });
      await server.createTask({ title: 'Three' });
      report(shell('ls'));
      await server.call('task_list', {});
      expect(await lastKinds(server, 3)).toEqual(['observed', 'action.enter', 'action.exit']);
    }, true),
  );

  promiseTest('recorder/waiting-events', 'a server without calls, and one that stops', () =>
    withSpool(async ({ folder, server, spool, report }) => {
      report(shell('ls'));
      await vi.waitFor(() => expect(listSpool(spool)).toEqual([]), { timeout: 30_000 });
      expect(await readObserved(server)).toHaveLength(1);
      const second = await openServer(join(folder, '.colibri', 'colibri.db'));
      report(shell('pwd'));
      report({ hook_event_name: 'Stop', transcript_path: join(folder, 'gone.jsonl') });
      await second.close();
      expect(listSpool(spool)).toEqual([]);
      expect(await readObserved(server)).toHaveLength(4);
      // The last server of a session is the last that can compare its transcript.
      expect(await server.database.read(listCoverage)).toMatchObject([{ session: 's-1', seen: 0 }]);
    }, true),
  );

  promiseTest('recorder/waiting-events', 'a spool that was removed and created again while a server runs', () =>
    withSpool(async ({ server, spool, report }) => {
      const isEmpty = () => vi.waitFor(() => expect(listSpool(spool)).toEqual([]), { timeout: 30_000 });
      report(shell('ls'));
      await isEmpty();
      rmSync(spool, { recursive: true });
      report(shell('pwd'));
      await isEmpty();
      report(shell('id'));
      await isEmpty();
      expect(await readObserved(server)).toHaveLength(3);
    }, true),
  );

  promiseTest('recorder/waiting-events', 'what an older server rejected and the next one understands', () =>
    withSpool(async ({ folder, server, spool, report }) => {
      report(shell('ls'));
      const [name = ''] = listSpool(spool);
      renameSync(join(spool, name), join(spool, `${name}.rejected`));
      const forged = join(spool, name.replace(/^\d/, '2').concat('.rejected'));
      writeFileSync(forged, '{}', { mode: 0o600 });
      const next = await openServer(join(folder, '.colibri', 'colibri.db'));
      await next.call('task_list', {});
      expect(await readObserved(next)).toHaveLength(1);
      await next.close();
      expect(readdirSync(spool).filter((file) => file.endsWith('.rejected'))).toEqual([basename(forged)]);
      expect(await readObserved(server)).toEqual([]);
    }),
  );

  promiseTest('recorder/coverage', 'also if the client stops its server together with the session', () =>
    withSpool(async ({ folder, spool, report }) => {
      const path = join(folder, '.colibri', 'colibri.db');
      const stopped = await openServer(path);
      report(shell('ls'));
      report({ hook_event_name: 'Stop', tool_use_id: undefined, transcript_path: join(folder, 'none.jsonl') });
      await stopped.close();
      expect(listSpool(spool)).toEqual([]);
      const next = await openServer(path);
      expect(await lastKinds(next, 3)).toEqual(['observed', 'observed', 'observed.coverage']);
      await next.close();
    }),
  );

  promiseTest('recorder/before-calls', 'a spool that cannot be used stops no call', () =>
    withSpool(async ({ server, spool }) => {
      writeFileSync(spool, '');
      await server.createTask({ title: 'One' });
      rmSync(spool);
      mkdirSync(spool, { mode: 0o755 });
      await server.createTask({ title: 'Two' });
      expect(await lastKinds(server, 1)).toEqual(['action.exit']);
    }, true),
  );
});
