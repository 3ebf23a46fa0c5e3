import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import type { Reader } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { copyProject } from './folders.ts';
import { call } from './memory-server.ts';
import { PROGRAM, type Ran, runCommand, type TerminalSize } from './program.ts';

/** A project folder of its own for a test, with the built program at hand; removed when the test ends. */
export class CliProject {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'colibri-project-')));
  readonly ledger = join(this.folder, '.colibri', 'colibri.db');

  readonly #isShared: boolean;

  /** Starts as a copy of another project. A shared one outlives the test: the caller removes it. */
  constructor({ like, isShared = false }: { like?: CliProject; isShared?: boolean } = {}) {
    this.#isShared = isShared;
    if (like !== undefined) copyProject(like.folder, this.folder);
    if (!isShared) onTestFinished(() => this.remove());
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  mkdir(name: string): string {
    mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  spawn(args: readonly string[], { env = {}, cwd = this.folder, program = PROGRAM }: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [program, ...args], { cwd, env: { ...inherited(), ...env } });
  }

  run(...args: readonly string[]): Promise<Ran> {
    return this.runWith({}, ...args);
  }

  runWith(options: RunOptions, ...args: readonly string[]): Promise<Ran> {
    const { env = {}, cwd = this.folder, program, terminal } = options;
    if (program !== undefined) return finished(this.spawn(args, options));
    return runCommand({ args, env: { ...inherited(), ...env }, cwd, terminal });
  }

  async json(...args: readonly string[]): Promise<{ status: number | null; answer: Record<string, unknown> }> {
    const { status, stdout } = await this.run(...args, '--json');
    return { status, answer: JSON.parse(stdout) as Record<string, unknown> };
  }

  /** A client with a server of its own on this ledger. */
  async openAgent(name: string, env: Record<string, string> = {}): Promise<Client> {
    const client = new Client({ name, version: '1' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM],
      cwd: this.folder,
      env: { ...inherited(), COLIBRI_LOG_LEVEL: 'error', COLIBRI_AGENT_ID: name, ...env },
      stderr: 'ignore',
    });
    await client.connect(transport);
    if (!this.#isShared) onTestFinished(() => client.close());
    return client;
  }

  /** Simulates an agent that connected, created these tasks and disconnected. */
  async addTasks(...titles: readonly string[]): Promise<void> {
    const agent = await this.openAgent('alice');
    for (const title of titles) await addTask(agent, title);
    await agent.close();
  }
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly program?: string;
  readonly terminal?: TerminalSize;
}

export async function addTask(agent: Client, title: string): Promise<void> {
  const answer = await call(agent, 'task_create', { title });
  if (answer.isError) throw new Error(answer.text);
}

export async function finished(child: ChildProcess): Promise<Ran> {
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const [status, stdout, stderr] = await Promise.all([exited, read(child.stdout), read(child.stderr)]);
  return { status, stdout, stderr };
}

async function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

export function inherited(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  return { PATH, HOME, COLIBRI_KEY_PATH: 'none', ...(TMPDIR === '' ? {} : { TMPDIR }) };
}

export async function withFile<Result>(path: string, work: (reader: Reader) => Promise<Result>): Promise<Result> {
  const database = await openSqlite({ path, readOnly: true, durability: 'full', busyTimeoutMs: 5000 });
  try {
    return await database.read(work);
  } finally {
    await database.close();
  }
}

/** Three tasks and a backup of them, backup.db; made once, copied by the tests. */
export async function createTemplate(): Promise<CliProject> {
  const place = new CliProject({ isShared: true });
  await place.addTasks('first', 'second', 'third');
  await place.run('backup', 'backup.db');
  return place;
}

/** The report of everything in a ledger file. */
export async function reportOf(path: string) {
  const { size, root, problems } = await withFile(path, (reader) => verifyEverything(reader));
  return { size, root, problems };
}

export async function titlesIn(path: string): Promise<string[]> {
  const rows = await withFile(path, (reader) => reader.query<{ title: string }>('SELECT title FROM tasks'));
  return rows.map(({ title }) => title);
}
