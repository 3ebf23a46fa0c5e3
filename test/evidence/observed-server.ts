import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Entry, saltedDigest, TOKEN_COUNTS } from '../../src/integrity/index.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import type { Observation } from '../../src/recorder/record.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, type RecordOptions, toSpooled } from '../../src/recorder/spooled-event.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const SALT = 'ab'.repeat(16);

export interface Reported {
  readonly session?: string;
  /** A sub-agent of the session. */
  readonly agent?: string;
  readonly at?: Date;
  readonly level?: RecordOptions['level'];
}

export interface ObservedServer {
  /** The folder of the ledger. */
  readonly folder: string;
  readonly server: TestServer;
  /** Records an event, as a hook of Claude Code and a server do. */
  readonly report: (fields: object, reported?: Reported) => Promise<void>;
}

/** Puts an event into the spool, as a hook of Claude Code does. */
export function spoolEvent(
  folder: string,
  fields: object,
  { session = 's-1', agent, at = new Date(), level = 'excerpts' }: Reported = {},
): void {
  const payload = { session_id: session, hook_event_name: 'PostToolUse', agent_id: agent, ...fields };
  const event = toSpooled(toEvent(payload, {}), { at, salt: SALT, level });
  writeToSpool(folder, encodeSpooled(event), { at, isDurable: false });
}

/** A server whose client has hooks; verifies the ledger at the end. */
export function withObserved(work: (observed: ObservedServer) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const server = await openServer(join(folder, 'colibri.db'));
    try {
      await work(observe(server, folder));
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

export function observe(server: TestServer, folder: string): ObservedServer {
  // Not the folder that the server watches, so that a test decides when an event is recorded.
  const waiting = join(folder, 'hooks', 'spool');
  mkdirSync(join(folder, 'hooks'), { mode: 0o700 });
  let count = 0;
  const report: ObservedServer['report'] = async (fields, reported) => {
    count += 1;
    await nextMillisecond();
    spoolEvent(waiting, { tool_use_id: `call-${count}`, ...fields }, reported);
    await ingest(server.database, waiting);
  };
  return { folder, server, report };
}

/**
 * Events have times and thoughts too, and of two in one millisecond neither is the first. Two stops of one agent, which
 * have no ids, would even count as one.
 */
async function nextMillisecond(): Promise<void> {
  for (const beganMs = Date.now(); Date.now() === beganMs; ) await setImmediate();
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

export const edited = (file_path: string) => ({
  tool_name: 'Edit',
  tool_input: { file_path, old_string: 'a', new_string: 'b' },
  tool_response: { filePath: file_path },
});

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

/** The tokens of session `s-1` since its last report. */
export function usage(task_id: string): Observation {
  const counts = Object.fromEntries(['responses', ...TOKEN_COUNTS].map((name) => [name, 1]));
  const entry = {
    v: 1,
    kind: 'observed.usage',
    at: new Date().toISOString(),
    actor: 'hook:claude-code',
    client: 'claude-code',
    session: 's-1',
    model: 'm',
    ...counts,
    task_id,
    key: '7'.repeat(32),
    content: saltedDigest('observed-content', SALT, '{}'),
  } as const satisfies Entry;
  return { entry, salt: SALT, content: '{}' };
}
