import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { CommandHost, type HostRequest } from './commands/host-client.ts';

export const PROGRAM = fileURLToPath(new URL('../../dist/colibri.cjs', import.meta.url));

/** A program of test/support/programs, which scripts/test/build.mjs bundles. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../dist/test/${name}.js`, import.meta.url));
}

export type Environment = Readonly<Record<string, string>>;

/** Nothing of the developer's own settings reaches the program, and only tests of signatures make it sign. */
export function cleanEnvironment(extra: Environment = {}): Record<string, string> {
  const { PATH = '', HOME = '', XDG_CONFIG_HOME = '' } = process.env;
  const user = 'HOME' in extra ? {} : { HOME, XDG_CONFIG_HOME };
  return { PATH, ...user, COLIBRI_KEY_PATH: 'none', ...extra };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  /** Everything that came out of it so far, as lines. */
  readonly outLines: () => string[];
  readonly errorLines: () => string[];
  /** What `find` makes of the lines, as soon as it makes something of them; an end without it is an error. */
  readonly whenFound: <Found>(
    stream: 'stdout' | 'stderr',
    find: (lines: readonly string[]) => Found | undefined,
  ) => Promise<Found>;
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Environment;
  readonly program?: string;
  readonly args?: readonly string[];
  /** A command that starts Node with the arguments that follow it. */
  readonly launcher?: readonly string[];
}

/** Started with three pipes, and killed with the test at the latest. */
export function startProgram({
  cwd,
  env,
  program = PROGRAM,
  args = [],
  launcher = [],
}: ProgramOptions): RunningProgram {
  const [command = process.execPath, ...rest] = [...launcher, process.execPath, program, ...args];
  const child = spawn(command, rest, { cwd, env: cleanEnvironment(env), stdio: 'pipe' });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  // "close" and not "exit": only then has everything that it wrote been read.
  const exit = new Promise<Exit>((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
  // A write to a program that is gone is part of some tests.
  child.stdin.on('error', () => undefined);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  const streams = { stdout: () => lines(output), stderr: () => lines(errors) };
  return {
    child,
    exit,
    outLines: streams.stdout,
    errorLines: streams.stderr,
    whenFound: async (stream, find) => {
      let hasEnded = false;
      void exit.then(() => (hasEnded = true));
      for (;;) {
        const isLast = hasEnded;
        const found = find(streams[stream]());
        if (found !== undefined) return found;
        if (isLast) throw new Error(`the program ended too early\n${streams.stderr().join('\n')}`);
        await Promise.race([exit, new Promise((resolve) => child[stream].once('data', resolve))]);
      }
    },
  };
}

function collect(stream: NodeJS.ReadableStream): string[] {
  const chunks: string[] = [];
  stream.setEncoding('utf8');
  // Many calls may wait for their answers at once.
  stream.setMaxListeners(0);
  stream.on('data', (chunk: string) => chunks.push(chunk));
  return chunks;
}

function lines(chunks: readonly string[]): string[] {
  return chunks
    .join('')
    .split('\n')
    .filter((line) => line !== '');
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ShellCommand {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin?: string | Uint8Array | undefined;
  /** Makes standard output say that it is a terminal. */
  readonly terminal?: TerminalSize | undefined;
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program as a person does, in a folder of its own and with no variables but these. */
export function runColibri(
  args: readonly string[],
  env: Environment,
  cwd: string,
  stdin?: string | Uint8Array,
): Promise<Ran> {
  return runCommand({ args, env, cwd, stdin });
}

export function runCommand(command: ShellCommand): Promise<Ran> {
  const host = chooseHost(command);
  return host === undefined ? runProcess(command) : host.run(toRequest(command));
}

/** The same for tests that have nothing else to do meanwhile. */
export function runColibriSync(command: ShellCommand): Ran {
  const host = chooseHost(command);
  if (host !== undefined) return host.runSync(toRequest(command));
  const { args, env, cwd, stdin, terminal } = command;
  const options = { cwd, env, encoding: 'utf8', input: stdin } as const;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...pretendTerminal(terminal), PROGRAM, ...args],
    options,
  );
  return { stdout, stderr, status };
}

/** Always uses a separate process. */
export function runProcess({ args, env, cwd, stdin, terminal }: ShellCommand): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...pretendTerminal(terminal), PROGRAM, ...args], { cwd, env });
    // The program may refuse its input before it has read all of it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}

let host: CommandHost | undefined;

/**
 * Starting a process costs ten times as much as most commands do, so that a host runs them. A process of its own is for
 * those that run beside another, that start or replace a server, and whose variables Node reads when it starts.
 */
function chooseHost({ args, env }: ShellCommand): CommandHost | undefined {
  const needsProcess =
    inject('run') === 'torture' ||
    PROCESSES.has(args[0] ?? '') ||
    Object.keys(env).some((name) => READ_AT_START.test(name));
  if (needsProcess || host?.isBusy) return undefined;
  if (host?.hasEnded) host = undefined;
  host ??= new CommandHost(fixturePath('command-host'), PROGRAM);
  return host;
}

const PROCESSES: ReadonlySet<string> = new Set(['', 'serve', 'demo', 'hook']);
const READ_AT_START = /^(?:NODE_|SSL_|OPENSSL_|LD_|LC_|LANG|TZ$)/;

function toRequest({ args, env, cwd, stdin = '', terminal }: ShellCommand): HostRequest {
  return { args, env, cwd, stdin: Buffer.from(stdin).toString('base64'), terminal };
}

/** Arguments of Node with which standard output says that it is a terminal; Node's own rules decide about colors. */
export function pretendTerminal(size: TerminalSize | undefined): string[] {
  if (size === undefined) return [];
  const { columns, rows } = size;
  const pretend = `
    import { WriteStream } from 'node:tty';
    const { hasColors, getColorDepth } = WriteStream.prototype;
    Object.assign(process.stdout, { isTTY: true, columns: ${columns}, rows: ${rows}, hasColors, getColorDepth });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
}

/** Tells whether a program that was run with these variables has started a thread since the last time. */
export function countThreads(folder: string): { readonly env: Environment; readonly hasStarted: () => boolean } {
  const [hook, trace] = [join(folder, 'count-threads.cjs'), join(folder, 'thread-was-started')];
  writeFileSync(
    hook,
    `const threads = require('node:worker_threads');
     threads.Worker = class extends threads.Worker {
       constructor(...args) {
         super(...args);
         require('node:fs').writeFileSync(${JSON.stringify(trace)}, '');
       }
     };
     require('node:module').syncBuiltinESMExports();`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${JSON.stringify(hook)}` },
    hasStarted: () => {
      const isThere = existsSync(trace);
      rmSync(trace, { force: true });
      return isThere;
    },
  };
}
