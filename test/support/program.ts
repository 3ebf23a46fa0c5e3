import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const PROGRAM = fileURLToPath(new URL('../../dist/colibri.cjs', import.meta.url));

/** A program of test/support/programs, which scripts/test/build.mjs bundles. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../dist/test/${name}.js`, import.meta.url));
}

export type Environment = Readonly<Record<string, string>>;

/** Nothing of the developer's own settings reaches the program. */
export function cleanEnvironment(extra: Environment = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...extra };
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

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program as a person does, in a folder of its own and with no variables but these. */
export function runColibri(
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
  stdin?: string | Uint8Array,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env });
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
