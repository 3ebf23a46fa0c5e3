import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, toSpooled } from '../../src/recorder/spooled-event.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const SALT = 'ab'.repeat(16);

interface Recorded {
  readonly server: TestServer;
  readonly spool: string;
  /** As a hook of Claude Code does. */
  readonly report: (fields: object) => void;
}

function withSpool(work: (recorded: Recorded) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const spool = join(folder, '.colibri', 'spool');
    mkdirSync(join(folder, '.colibri'), { mode: 0o700 });
    const server = await openServer(join(folder, 'colibri.db'));
    let count = 0;
    const report = (fields: object): void => {
      const payload = { session_id: 's-1', hook_event_name: 'PostToolUse', tool_use_id: `c-${count}`, ...fields };
      const at = new Date(Date.UTC(2026, 3, 8) + count);
      count += 1;
      const event = toSpooled(toEvent(payload, {}), { at, salt: SALT, level: 'excerpts' });
      writeToSpool(spool, encodeSpooled(event), { at, isDurable: false });
    };
    try {
      await work({ server, spool, report });
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

const shell = (command: string) => ({ tool_name: 'Bash', tool_input: { command }, tool_response: { stdout: 'fine' } });
const update = (task_id: string, status: string) => ({
  tool_name: 'mcp__colibri__task_update',
  tool_input: { task_id, status },
  tool_response: JSON.stringify({ ok: true, data: { task_id, status, claim: 7 } }),
});

async function readObserved(server: TestServer): Promise<(string | undefined)[][]> {
  const rows = await server.database.read((db) =>
    db.query<{ entry: string; content: string }>(
      `SELECT entry, observations.content AS content FROM observations
       JOIN ledger_entries ON ledger_entries.idx = observations.idx ORDER BY observations.idx`,
    ),
  );
  return rows.map(({ entry, content }) => {
    const { tool, task_id, session_task } = parseEntry(entry) as unknown as Record<string, string>;
    return [tool, task_id, session_task, content];
  });
}

describe('the spool', () => {
  promiseTest('recorder/ingest', 'events become entries, in their order, under the task that their session holds', () =>
    withSpool(async ({ server, spool, report }) => {
      await server.createTask({ title: 'One', status: 'todo' });
      report(shell('ls'));
      report(update('T-0001', 'in_progress'));
      report(shell('npm test'));
      report(update('T-0002', 'review'));
      report(update('T-0001', 'review'));
      report(shell('git push'));
      expect(await ingest(server.database, spool)).toEqual({ recorded: 6, rejected: 0 });
      expect((await readObserved(server)).map((observed) => observed.slice(0, 3))).toEqual([
        ['Bash', undefined, undefined],
        ['mcp__colibri__task_update', 'T-0001', 'T-0001'],
        ['Bash', 'T-0001', 'T-0001'],
        ['mcp__colibri__task_update', 'T-0001', 'T-0001'],
        ['mcp__colibri__task_update', 'T-0001', undefined],
        ['Bash', undefined, undefined],
      ]);
      expect((await readObserved(server))[2]?.[3]).toContain('"command":"npm test"');
      expect(readdirSync(spool)).toEqual([]);
    }),
  );

  promiseTest('recorder/ingest', 'an event that is reported twice is recorded once', () =>
    withSpool(async ({ server, spool, report }) => {
      for (const tool_use_id of ['c', 'c', 'd']) report({ ...shell('ls'), tool_use_id });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 2, rejected: 0 });
      report({ ...shell('ls'), tool_use_id: 'd' });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 0, rejected: 0 });
      expect(await readObserved(server)).toHaveLength(2);
    }),
  );

  promiseTest('recorder/ingest', 'a claim of a task that there is not leaves the session without a task', () =>
    withSpool(async ({ server, spool, report }) => {
      report(update('T-9999', 'in_progress'));
      report(update('no id', 'in_progress'));
      report(shell('ls'));
      await ingest(server.database, spool);
      for (const [, taskId, held] of await readObserved(server)) expect([taskId, held]).toEqual([undefined, undefined]);
    }),
  );

  promiseTest('recorder/ingest', 'files that no hook could have written are kept aside, and the others recorded', () =>
    withSpool(async ({ server, spool, report }) => {
      report(shell('ls'));
      const [name = ''] = readdirSync(spool);
      const forged = (text: string, place: number) =>
        writeFileSync(join(spool, name.replace(/-[0-9a-f]{16}/, `-${String(place).padStart(16, '0')}`)), text, {
          mode: 0o600,
        });
      for (const [place, text] of ['', '{}', '[]', '{"v":1}', 'x'.repeat(1000)].entries()) forged(text, place);
      expect(await ingest(server.database, spool)).toEqual({ recorded: 1, rejected: 5 });
      expect(readdirSync(spool).every((file) => file.endsWith('.rejected'))).toBe(true);
      expect(await ingest(server.database, spool)).toEqual({ recorded: 0, rejected: 0 });
    }),
  );
});
