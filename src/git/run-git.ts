import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export interface GitOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string;
  /** Ends git after this time. */
  readonly timeoutMs?: number;
}

/** Git is not there, refused, or was ended; the message is git's own. */
export class GitFailed extends Error {
  constructor(
    message: string,
    readonly status: number | null,
  ) {
    super(message);
  }
}

/** Settings that make git run a program even if it only reads. A repository's own configuration may contain them. */
const SAFE = ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false'];
const MAX_ERROR_LENGTH = 500;

/** A process of git whose output is read as it arrives, and the promise of its end, which rejects with `GitFailed`. */
export interface RunningGit {
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<void>;
}

export function startGit(args: readonly string[], { env, cwd, input, timeoutMs }: GitOptions): RunningGit {
  const child = spawn('git', [...SAFE, ...args], { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' });
  let problem = '';
  child.stderr.on('data', (chunk: Buffer) => (problem = (problem + chunk.toString()).slice(0, MAX_ERROR_LENGTH)));
  // Git may end before it has read everything.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const end = new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new GitFailed(`git cannot be started: ${error.message}`, null)));
    child.on('close', (status) => {
      const reason = problem.trim().split('\n')[0] || `git ${args[0]} ended with ${status ?? 'a signal'}`;
      if (status === 0) resolve();
      else reject(new GitFailed(reason, status));
    });
  });
  // The caller awaits it after the output, which may end long before.
  end.catch(() => undefined);
  return { child, end };
}

/** The output of a command whose output is short. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const { child, end } = startGit(args, { input: '', ...options });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await end;
  return Buffer.concat(chunks).toString('utf8');
}
