import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEntry } from '../../src/integrity/index.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, toSpooled } from '../../src/recorder/spooled-event.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const SALT = 'ab'.repeat(16);

export interface Recorded {
  readonly folder: string;
  readonly server: TestServer;
  readonly spool: string;
  /** Spools an event like a hook of Claude Code. */
  readonly report: (fields: object, at?: Date) => void;
}

/** A server whose spool is not its own unless `isWatched`, so that the test decides when events are ingested. */
export function withSpool(work: (recorded: Recorded) => Promise<void>, isWatched = false): Promise<void> {
  return withFolder(async (folder) => {
    const spool = join(folder, '.colibri', 'spool');
    mkdirSync(join(folder, '.colibri'), { mode: 0o700 });
    writeFileSync(join(folder, '.colibri', '.gitignore'), '*\n');
    const server = await openServer(join(folder, isWatched ? '.colibri' : '.', 'colibri.db'));
    let count = 0;
    const report = (fields: object, time?: Date): void => {
      const payload = { session_id: 's-1', hook_event_name: 'PostToolUse', tool_use_id: `c-${count}`, ...fields };
      const at = time ?? new Date(Date.UTC(2026, 3, 8) + count);
      count += 1;
      const event = toSpooled(toEvent(payload, {}), { at, salt: SALT, level: 'excerpts' });
      writeToSpool(spool, encodeSpooled(event), { at, isDurable: false });
    };
    try {
      await work({ folder, server, spool, report });
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

export const shell = (command: string) => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_response: { stdout: 'fine' },
});
export const update = (task_id: string, status: string) => ({
  tool_name: 'mcp__colibri__task_update',
  tool_input: { task_id, status },
  tool_response: JSON.stringify({ ok: true, data: { task_id, status, claim: 7 } }),
});

export async function readObserved(server: TestServer): Promise<(string | undefined)[][]> {
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
