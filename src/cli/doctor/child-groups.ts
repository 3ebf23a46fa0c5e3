import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** The commands that doctor has started: none of them may outlive it, also if a signal ends it. */

const started = new Set<ChildProcess>();

const GRACE_MS = 1000;
const POLL_MS = 20;

/** Call it for a child that leads a process group of its own. */
export function trackGroup(child: ChildProcess): void {
  started.add(child);
}

/** The command may be a launcher such as npx, whose child is the server. */
export function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  child.unref();
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // The process has already exited.
  }
}

/** Gives the commands a moment to end, and kills those that do not. */
export async function whenEnded(): Promise<void> {
  const isRunning = ({ pid, exitCode, signalCode }: ChildProcess) =>
    pid !== undefined && exitCode === null && signalCode === null;
  const limit = Date.now() + GRACE_MS;
  while ([...started].some(isRunning) && Date.now() < limit) await setTimeout(POLL_MS);
  killGroups();
}

export function killGroups(): void {
  for (const child of started) endGroup(child, 'SIGKILL');
  started.clear();
}
