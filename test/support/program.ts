import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const PROGRAM = fileURLToPath(new URL('../../dist/colibri.js', import.meta.url));

/** A program that test/support/build.ts has bundled. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../../dist/test/fixture-${name}.js`, import.meta.url));
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
  outLines(): string[];
  errorLines(): string[];
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Environment;
  readonly program?: string;
  readonly args?: readonly string[];
}

/** Started with three pipes, and killed with the test at the latest. */
export function startProgram({ cwd, env, program = PROGRAM, args = [] }: ProgramOptions): RunningProgram {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: cleanEnvironment(env), stdio: 'pipe' });
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
  return { child, exit, outLines: () => lines(output), errorLines: () => lines(errors) };
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
