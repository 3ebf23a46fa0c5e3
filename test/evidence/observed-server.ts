import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, type RecordOptions, toSpooled } from '../../src/recorder/spooled-event.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const SALT = 'ab'.repeat(16);

export interface Reported {
  readonly session?: string;
  readonly at?: Date;
  readonly level?: RecordOptions['level'];
}

export interface ObservedServer {
  readonly server: TestServer;
  readonly folder: string;
  /** Puts an event into the spool, as a hook of Claude Code does. */
  readonly spool: (fields: object, reported?: Reported) => void;
  /** The same, and adds it to the ledger. */
  readonly report: (fields: object, reported?: Reported) => Promise<void>;
}

/** A server whose client has hooks; verifies the ledger at the end. */
export function withObserved(work: (observed: ObservedServer) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    // Not the folder that the server watches, so that a test decides when an event is recorded.
    const waiting = join(folder, 'hooks', 'spool');
    mkdirSync(join(folder, 'hooks'), { mode: 0o700 });
    const server = await openServer(join(folder, 'colibri.db'));
    let count = 0;
    const spool: ObservedServer['spool'] = (fields, { session = 's-1', at = new Date(), level = 'excerpts' } = {}) => {
      count += 1;
      const payload = {
        session_id: session,
        hook_event_name: 'PostToolUse',
        tool_use_id: `call-${count}`,
        ...fields,
      };
      const event = toSpooled(toEvent(payload, {}), { at, salt: SALT, level });
      writeToSpool(waiting, encodeSpooled(event), { at, isDurable: false });
    };
    const report: ObservedServer['report'] = async (fields, reported) => {
      spool(fields, reported);
      await ingest(server.database, waiting);
    };
    try {
      await work({ server, folder, spool, report });
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

/** A command that exited 0, as Claude Code reports it. */
export const ran = (command: string, fields: object = {}) => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_response: { stdout: 'fine', stderr: '', interrupted: false },
  ...fields,
});

export const failed = (command: string, exitCode = 1) => ({
  hook_event_name: 'PostToolUseFailure',
  tool_name: 'Bash',
  tool_input: { command },
  error: `Exit code ${exitCode}\nit failed`,
});

/** The client does not tell how it ended. */
export const ended = (command: string) =>
  ran(command, { tool_response: { stdout: '', stderr: '', interrupted: true } });

export const updated = (task_id: string, status: string) => ({
  tool_name: 'mcp__colibri__task_update',
  tool_input: { task_id, status },
  tool_response: JSON.stringify({ ok: true, data: { task_id, status } }),
});

/** Creates a task, claims it in a session that is recorded, and opens a session for its thoughts. */
export async function claimTask({ server, report }: ObservedServer, reported: Reported = {}): Promise<string> {
  const { task_id } = await server.createTask({ title: 'Compare words and deeds', status: 'todo' });
  await server.startSession({ task_id, auditor_id: 'tester' });
  await server.updateTask({ task_id, status: 'in_progress' });
  await report(updated(task_id, 'in_progress'), reported);
  return task_id;
}

export const DAY_MS = 86_400_000;
/** Later than every thought of a test, whatever the time is. */
export const later = (): Date => new Date(Date.now() + DAY_MS);
