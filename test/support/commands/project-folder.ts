import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, expect, onTestFinished } from 'vitest';
import { loadSqlite } from '../../../src/db/sqlite/driver.ts';
import { copyProject } from '../folders.ts';
import { PROGRAM, pretendTerminal, type Ran, runColibriSync, type TerminalSize } from '../program.ts';

type Variables = Readonly<Record<string, string>>;

/** Nothing of the environment of the tests: they may run with colors forced, or inside a project of their own. */
function environment(variables: Variables): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    COLIBRI_LOG_LEVEL: 'error',
    COLIBRI_KEY_PATH: 'none',
    ...variables,
  };
}

/** A folder of its own with the ledger of a project in it. */
export function createProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The same with a ledger that is filled once for all tests of a file; each test gets a copy. */
export function projectFilledBy(fill: (folder: string) => Promise<void>): () => Promise<string> {
  let original: Promise<string> | undefined;
  const create = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'colibri-project-'));
    await fill(folder);
    expectWhole(folder);
    return folder;
  };
  afterAll(async () => {
    if (original !== undefined) rmSync(await original, { recursive: true, force: true });
  });
  return async () => {
    original ??= create();
    const folder = createProject();
    copyProject(await original, folder);
    return folder;
  };
}

export function ledgerOf(folder: string): string {
  return join(folder, '.colibri', 'colibri.db');
}

/** The built program in a folder, with pipes around it. */
export function colibri(folder: string, args: readonly string[], variables: Variables = {}): Ran {
  return runColibriSync({ args, cwd: folder, env: environment(variables) });
}

/** The same where standard output says that it is a terminal, and Node's own rules decide about colors. */
export function colibriOnTerminal(folder: string, columns: number, args: readonly string[], variables: Variables = {}) {
  return runColibriSync({ args, cwd: folder, env: environment(variables), terminal: { columns, rows: 24 } });
}

/** Where every clock stands still, so that ages, times and durations are always the same. */
export function frozenAt(iso: string): Variables {
  const ms = Date.parse(iso);
  const freeze = `
    globalThis.Date = class extends Date {
      constructor(...args) { super(...(args.length === 0 ? [${ms}] : args)); }
      static now() { return ${ms}; }
    };
    process.hrtime.bigint = () => ${ms}000000n;
    performance.now = () => 0;`;
  return { TZ: 'UTC', NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(freeze)}` };
}

/**
 * What the commands print on a terminal: a pseudo-terminal of `script` (util-linux) if this machine has it, else one
 * that is pretended.
 */
export function viewsOnTerminal(
  folder: string,
  columns: number,
  views: readonly string[],
  variables: Variables,
): string[] {
  const isPretended = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status !== 0;
  if (isPretended) return views.map((view) => colibriOnTerminal(folder, columns, view.split(' '), variables).stdout);
  const commands = views.map((view) => `'${process.execPath}' '${PROGRAM}' ${view}; printf '\\f'`);
  const typed = [`stty cols ${columns} rows 24`, ...commands].join('; ');
  const options = {
    cwd: folder,
    env: environment(variables),
    encoding: 'utf8',
    stdio: 'pipe',
  } as const;
  const { stdout } = spawnSync('script', ['-qec', typed, '/dev/null'], options);
  return stdout.replaceAll('\r\n', '\n').split('\f').slice(0, -1);
}

const PRETEND_KEYBOARD = [
  '--import',
  'data:text/javascript,Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });',
];

/** A command that runs until a signal or a key ends it. */
export function startColibri(folder: string, args: readonly string[], terminal?: TerminalSize) {
  const pretend = terminal === undefined ? [] : [...pretendTerminal(terminal), ...PRETEND_KEYBOARD];
  const child = spawn(process.execPath, [...pretend, PROGRAM, ...args], { cwd: folder, env: environment({}) });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ status: number | null; stderr: string }>((done) =>
    child.on('close', (status) => done({ status, stderr })),
  );
  const lines = () => stdout.split('\n').slice(0, -1);
  const seen = (isThere: (lines: string[]) => boolean) =>
    expect.poll(() => isThere(lines()), { timeout: 30_000, interval: 20 }).toBe(true);
  return { child, lines, seen, ended };
}

export type Agent = (tool: string, input: Record<string, unknown>) => Promise<void>;

/** An agent that works through the built server; a refused call is a failed test unless it is expected. */
export async function withAgent(
  folder: string,
  name: string,
  work: (agent: Agent) => Promise<void>,
  variables: Variables = {},
): Promise<void> {
  const client = new Client({ name, version: '1' });
  const env = environment({ COLIBRI_DB_PATH: ledgerOf(folder), ...variables });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM], env }));
  try {
    await work(async (tool, input) => {
      const { isError, content } = await client.callTool({ name: tool, arguments: input });
      if (isError) throw new Error(JSON.stringify(content));
    });
  } finally {
    await client.close();
  }
}

/** What the product's own check says about the ledger. */
export function expectWhole(folder: string): void {
  expect(colibri(folder, ['verify'])).toMatchObject({ status: 0, stderr: '' });
}

/** Edits the file with a database tool, past the program. */
export async function tamper(folder: string, sql: string): Promise<void> {
  const database = (await loadSqlite()).open(ledgerOf(folder), { readOnly: false });
  database.exec(sql);
  database.close();
}

export function hasEscapes(text: string): boolean {
  return text.includes('\u001b');
}
