import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Ran, startCommand } from '../command.ts';
import type { World } from '../world.ts';
import { type Own, toCall, toCommand } from './calls.ts';
import type { Asked, Call, Journal } from './journal.ts';
import type { Lane, Step, Work } from './script.ts';
import { environmentOf } from './wrong-clock.ts';

/** A person at the command line, or a client that runs hooks: one process for each step. */
export async function playCommands(world: World, lane: Lane, journal: Journal): Promise<void> {
  const own: Own = {};
  for (const [index, step] of lane.steps.entries()) {
    const [work] = step.works as [Work];
    const marker = `${lane.name}:${index}:0;`;
    const player = { world, lane, journal, own, step, marker };
    if (lane.kind === 'client') await observe(player, work);
    else {
      const call = toCall(work, marker, journal, own);
      await (call === undefined ? read(player, work) : change(player, work, call));
    }
  }
}

interface Player {
  readonly world: World;
  readonly lane: Lane;
  readonly journal: Journal;
  readonly own: Own;
  readonly step: Step;
  readonly marker: string;
}

/** Exit codes of the commands that write: done, refused by a rule, not possible now. */
const [DONE, REFUSED, UNAVAILABLE] = [0, 1, 2];

async function change(player: Player, work: Work, call: Call): Promise<void> {
  const { lane, journal, own, marker } = player;
  const asked = journal.ask({ marker, lane: lane.name }, call);
  const command = toCommand(work, call, marker) ?? ['call', call.tool, JSON.stringify(call.input), '--json'];
  const begin = performance.now();
  const { code, stdout, stderr } = await run(player, [...command, '--as', lane.name]);
  if (code === null) return;
  const atMs = performance.now();
  const waitedMs = atMs - begin - pauseOf(player.step);
  const answer = parse(stdout);
  if (code !== DONE && code !== REFUSED && code !== UNAVAILABLE)
    journal.problems.push(`${lane.name}: ${command[0]} ended with exit code ${code}: ${stderr.slice(-1000)}`);
  const receipt = code === DONE && answer.entry !== undefined ? { index: answer.entry, leaf: undefined } : undefined;
  asked.answer = { outcome: code === DONE ? 'ok' : codeOf(answer), receipt, waitedMs, atMs };
  learn(asked, code === DONE ? (answer.data ?? {}) : {}, journal, own);
}

function learn({ tool }: Asked, data: Readonly<Record<string, unknown>>, journal: Journal, own: Own): void {
  journal.learn(data);
  if (tool === 'task_create' && typeof data['task_id'] === 'string') own.task = data['task_id'];
  if (tool === 'audit_session_start' && typeof data['session_id'] === 'string') own.session = data['session_id'];
}

/** Commands that only read must succeed at any time: `verify` finds a whole ledger in the middle of everything. */
async function read(player: Player, { what }: Work): Promise<void> {
  const { world, lane, journal, marker } = player;
  const backup = join(world.folder, `backup-${marker.replaceAll(/[:;]/g, '-')}.db`);
  const command = what === 'backup' ? ['backup', backup] : what === 'agents' ? ['agents', '--json'] : [what];
  const { code, stdout, stderr } = await run(player, command);
  journal.count(what === 'verify' ? 'verifications meanwhile' : 'views and backups meanwhile');
  if (code !== null && code !== DONE && !isAbsent(stdout + stderr))
    journal.problems.push(
      `${lane.name}: ${what} ended with exit code ${code}: ${stdout.slice(0, 1000)}${stderr.slice(-1000)}`,
    );
  if (what !== 'backup' || code !== DONE || !existsSync(backup)) return;
  // To another user, because the one who signs knows of later checkpoints than the backup has entries.
  const env = { COLIBRI_DB_PATH: backup, XDG_CONFIG_HOME: join(world.folder, 'other') };
  const whole = await run({ ...player, step: UNDISTURBED }, ['verify'], env);
  if (whole.code !== DONE)
    journal.problems.push(`${lane.name}: a backup does not verify: ${whole.stdout}${whole.stderr}`);
  rmSync(backup, { force: true });
}

/** Before the first server has created it, and for a backup of a database server. */
function isAbsent(output: string): boolean {
  return /no ledger|does not exist|is empty|pg_dump/.test(output);
}

async function observe(player: Player, { what }: Work): Promise<void> {
  const { world, lane, journal, marker } = player;
  const isStop = what === 'observe-stop';
  const asked = journal.ask({ marker, lane: lane.name }, { tool: what, input: {} });
  const event = {
    session_id: lane.name,
    cwd: world.folder,
    hook_event_name: isStop ? 'Stop' : 'PostToolUse',
    ...(isStop ? {} : { tool_name: 'Bash', tool_use_id: marker, tool_response: { stdout: 'fine', stderr: '' } }),
    ...(isStop ? {} : { tool_input: { command: `echo ${marker}` } }),
  };
  const { code, stdout, stderr } = await run(player, ['hook'], {}, JSON.stringify(event));
  if (code === null) return;
  if (code !== 0 || stdout !== '')
    journal.problems.push(`${lane.name}: a hook ended with exit code ${code} and printed "${stdout.slice(0, 200)}"`);
  // A hook that could not record reports it, and its event counts as one that was never reported.
  const outcome = stderr === '' ? 'ok' : 'not recorded';
  asked.answer = { outcome, receipt: undefined, waitedMs: 0, atMs: performance.now() };
}

const UNDISTURBED: Step = { works: [], fault: undefined, afterMs: 0, lastsMs: 0 };

async function run(
  { world, lane, journal, step }: Player,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ran> {
  journal.count(lane.kind === 'client' ? 'hook processes' : 'command processes');
  const running = startCommand(world, args, { ...environmentOf(world, lane), ...env }, input);
  await Promise.all([running.ran, cause(running.child, step, journal)]);
  return running.ran;
}

async function cause(child: ChildProcess, { fault, afterMs, lastsMs }: Step, journal: Journal): Promise<void> {
  if (fault === undefined) return;
  await delay(afterMs);
  // A process that has ended by then was not harmed.
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (fault === 'kill') journal.count('kills (SIGKILL)');
  if (fault === 'term') journal.count('SIGTERM');
  if (fault === 'stop') journal.count('SIGSTOP and SIGCONT');
  child.kill(fault === 'kill' ? 'SIGKILL' : fault === 'term' ? 'SIGTERM' : 'SIGSTOP');
  if (fault !== 'stop') return;
  await delay(lastsMs);
  child.kill('SIGCONT');
}

function pauseOf({ fault, lastsMs }: Step): number {
  return fault === 'stop' ? lastsMs : 0;
}

interface CommandAnswer {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly entry?: number;
  readonly error?: Failure;
}

interface Failure {
  readonly code?: string;
  readonly details?: { readonly code?: string };
}

/** `refused` for a command that says nothing about its call. */
function codeOf({ data, error = data?.['error'] as Failure | undefined }: CommandAnswer): string {
  const code = error?.code === 'HANDLER_ERROR' ? error.details?.code : error?.code;
  return code ?? 'refused';
}

function parse(stdout: string): CommandAnswer {
  try {
    return JSON.parse(stdout) as CommandAnswer;
  } catch {
    return {};
  }
}
