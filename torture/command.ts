import { type ChildProcess, spawn } from 'node:child_process';
import type { World } from './world.ts';

export interface Ran {
  /** Null if the process was killed, by this signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, undisturbed. */
export function runCommand(world: World, args: readonly string[]): Promise<Ran> {
  return startCommand(world, args, world.env).ran;
}

export function startCommand(
  { program, folder: cwd }: World,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): { readonly child: ChildProcess; readonly ran: Promise<Ran> } {
  const child = spawn(process.execPath, [program, ...args], { cwd, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return {
    child,
    ran: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))),
  };
}
