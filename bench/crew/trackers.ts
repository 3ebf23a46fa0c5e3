import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { installPeer, type Peer } from '../support/peer.ts';

/** One agent with a server of its own, reduced to what a crew needs. */
export interface Worker {
  readonly pid: number;
  create(title: string): Promise<void>;
  /** Tasks that the server offers, and those that this agent began and has not finished. */
  offers(): Promise<readonly string[]>;
  /** The token of the claim; undefined if another agent has the task. */
  claim(task: string): Promise<number | undefined>;
  /** Whether the server accepted the work. */
  finish(task: string, token: number): Promise<boolean>;
  /** Resolves once the process is gone. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface Tracker {
  readonly name: string;
  connect(agent: string): Promise<Worker>;
}

export const CLAIM_TTL = '1s';

export function createColibri(): Tracker {
  const env = { COLIBRI_DB_PATH: join(newFolder(), 'colibri.db'), COLIBRI_CLAIM_TTL: CLAIM_TTL };
  return {
    name: `Colibri, claims lapse after ${CLAIM_TTL}`,
    connect: async (agent) => {
      const program = { command: process.execPath, args: [resolve('dist/colibri.js')] };
      const { call, ...server } = await start({ ...program, env: { ...env, COLIBRI_AGENT_ID: agent } });
      const update = async (input: object) => (await call('task_update', input)).data as { claim: number } | undefined;
      return {
        ...server,
        create: async (title) => void (await call('task_create', { title, status: 'todo' })),
        offers: async () => {
          const own = await call('task_list', { assignee: agent, status: 'in_progress' });
          const queue = await call('task_next_actions', { limit: 100 });
          const { tasks } = own.data as { tasks: { task_id: string }[] };
          const { next_actions } = queue.data as { next_actions: { task_id: string }[] };
          return [...tasks, ...next_actions].map(({ task_id }) => task_id);
        },
        claim: async (task_id) => {
          const taken = await update({ task_id, status: 'in_progress' });
          if (taken !== undefined) return taken.claim;
          const { holder, claim } = (await call('task_get', { task_id })).data as { holder?: string; claim?: number };
          return holder === agent ? claim : undefined;
        },
        finish: async (task_id, claim) => {
          await call('audit_session_start', { task_id, auditor_id: 'crew' });
          await call('thought_record', { task_id, type: 'decision', content: 'This is how it is done.' });
          if ((await update({ task_id, status: 'review', claim })) === undefined) return false;
          return (await update({ task_id, status: 'done' })) !== undefined;
        },
      };
    },
  };
}

const BACKLOG: Peer = { name: 'backlog.md', version: '1.52.0', program: 'backlog.md-linux-x64/backlog' };

/** Backlog.md has assignees and dependencies. An agent claims as carefully as its tools allow: assign, then look. */
export function createBacklog(): Tracker {
  const command = installPeer(BACKLOG);
  const cwd = newFolder();
  const flags = ['--defaults', '--no-git', '--integration-mode', 'none', '--auto-open-browser', 'false'];
  const { status } = spawnSync(command, ['init', 'crew', ...flags], { cwd, stdio: 'ignore' });
  if (status !== 0) throw new Error(`${BACKLOG.name} could not be initialized`);
  return {
    name: `${BACKLOG.name} ${BACKLOG.version}, assignees`,
    connect: async (agent) => {
      const { call, ...server } = await start({ command, args: ['mcp', 'start'], cwd });
      const list = async (input: object) =>
        [...(await call('task_list', input)).text.matchAll(/^\s+(?:\[\w+\] )?(TASK-\d+) - /gm)].map(
          ([, id]) => id ?? '',
        );
      const isOwn = async (id: string) =>
        new RegExp(`^Assignee: @?${agent}$`, 'm').test((await call('task_view', { id })).text);
      return {
        ...server,
        create: async (title) => void (await call('task_create', { title })),
        offers: async () => [
          ...(await list({ assignee: agent, status: 'In Progress' })),
          ...(await list({ status: 'To Do', unassigned: true, ready: true })),
        ],
        claim: async (id) => {
          if (await isOwn(id)) return 0;
          await call('task_edit', { id, status: 'In Progress', assignee: [agent] });
          return (await isOwn(id)) ? 0 : undefined;
        },
        finish: async (id) => (await isOwn(id)) && (await call('task_edit', { id, status: 'Done' })).data !== undefined,
      };
    },
  };
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'colibri-crew-'));
}

interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

interface Reply {
  /** Undefined if the call was refused. */
  readonly data: unknown;
  readonly text: string;
}

async function start(program: Program) {
  const client = new Client({ name: 'crew', version: '1' });
  const { PATH = '', HOME = '' } = process.env;
  const transport = new StdioClientTransport({
    ...program,
    env: { PATH, HOME, COLIBRI_LOG_LEVEL: 'error', ...program.env },
    stderr: 'ignore',
  });
  await client.connect(transport);
  const gone = new Promise<void>((done) => {
    client.onclose = done;
  });
  const pid = transport.pid as number;
  return {
    pid,
    close: () => client.close(),
    kill: () => {
      process.kill(pid, 'SIGKILL');
      return gone;
    },
    call: async (name: string, input: object): Promise<Reply> => {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: { ...input } });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      const data = (structuredContent as { data?: unknown } | undefined)?.data ?? text;
      return { data: isError ? undefined : data, text };
    },
  };
}
