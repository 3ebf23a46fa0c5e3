import type { Reader } from '../../../src/db/database.ts';
import { type Task, taskFields } from '../../../src/domains/tasks/record.ts';
import { listVersions } from '../../../src/domains/tasks/versions.ts';
import { formatTaskId } from '../../../src/ids.ts';
import { parseEntry } from '../../../src/integrity/index.ts';

export interface RefereeOptions {
  readonly ttlMs: number;
  /** The time that an entry states, on the clock of the ledger. */
  readonly trueTimeOf: (at: string) => number;
}

export interface Verdict {
  readonly problems: readonly string[];
  readonly takeovers: number;
  readonly done: number;
  /** Polls that came when a task had lapsed for certain. */
  readonly latePolls: number;
}

interface Call {
  readonly sequence_no: number;
  readonly exit_idx: number | null;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly arguments: string | null;
  readonly outcome: string | null;
  readonly entered_at: string;
  readonly exited_at: string | null;
}

interface Version {
  readonly idx: number;
  readonly actor: string;
  readonly task: Task;
}

/** From one claim until the next, or until the task has no holder. */
interface Hold {
  readonly taskNo: number;
  readonly holder: string;
  readonly begin: number;
  readonly end: number;
}

/** Checks from the log alone what a crew must keep to, task by task, entry by entry and call by call. */
export async function judge(db: Reader, { ttlMs, trueTimeOf }: RefereeOptions): Promise<Verdict> {
  const problems: string[] = [];
  const calls = await db.query<Call>(
    `SELECT sequence_no, exit_idx, tool, actor, process_id, arguments, outcome, entered_at, exited_at
     FROM calls ORDER BY sequence_no`,
  );
  const thoughts = await db.query<Thought>('SELECT idx, task_no, recorded_by FROM thoughts');
  const holds: Hold[] = [];
  let [takeovers, done] = [0, 0];
  for (const { task_no } of await db.query<{ task_no: number }>('SELECT task_no FROM tasks ORDER BY task_no')) {
    const versions = await readVersions(db, task_no, problems);
    const taken = checkChanges(task_no, versions, problems);
    takeovers += taken.length;
    for (const { idx, actor, from } of taken) {
      const silentMs = silenceAt(calls, { holder: from, taker: actor, idx }, trueTimeOf);
      if (silentMs < ttlMs) problems.push(`task ${task_no}: ${from} lost it at ${idx} after ${silentMs} ms`);
    }
    const own = listHolds(task_no, versions);
    holds.push(...own);
    const status = versions.at(-1)?.task.status;
    if (status !== 'done') problems.push(`task ${task_no}: is ${status} at the end`);
    else done += 1;
    const last = own.at(-1);
    if (!thoughts.some((thought) => isOwnThought(thought, last)))
      problems.push(`task ${task_no}: ${last?.holder} held it last and recorded no thought meanwhile`);
  }
  problems.push(...checkTokens(calls, holds));
  const polls = listPolls(calls, holds, { ttlMs, trueTimeOf });
  problems.push(...polls.flatMap(({ problem }) => problem ?? []));
  return { problems, takeovers, done, latePolls: polls.length };
}

async function readVersions(db: Reader, taskNo: number, problems: string[]): Promise<Version[]> {
  const versions: Version[] = [];
  for (const { idx, content, entry: text } of await listVersions(db, taskNo)) {
    const entry = parseEntry(text ?? '');
    if (content === null || entry === undefined) problems.push(`task ${taskNo}: entry ${idx} is unreadable`);
    else versions.push({ idx, actor: entry.actor, task: taskFields.fromContent(content) });
  }
  return versions;
}

/** No task has two holders: what a claim guards is changed by its holder, or by an actor that takes the task over. */
function checkChanges(taskNo: number, versions: readonly Version[], problems: string[]) {
  const taken: { readonly idx: number; readonly actor: string; readonly from: string }[] = [];
  for (const [place, { idx, actor, task }] of versions.entries()) {
    const before = versions[place - 1]?.task;
    const guarded = ['status', 'progress', 'assignee', 'blocked_reason', 'holder'] as const;
    if (!before || before.holder === null || before.holder === actor) continue;
    if (guarded.every((field) => task[field] === before[field])) continue;
    if (task.taken_from !== before.holder)
      problems.push(`task ${taskNo}: ${actor} changed it at ${idx} while ${before.holder} held it`);
    taken.push({ idx, actor, from: before.holder });
  }
  return taken;
}

function listHolds(taskNo: number, versions: readonly Version[]): Hold[] {
  const holds: Hold[] = [];
  for (const [place, { idx, task }] of versions.entries()) {
    if (task.holder === null || versions[place - 1]?.task.holder === task.holder) continue;
    const { holder } = task;
    const end = versions.find((later) => later.idx > idx && later.task.holder !== holder)?.idx;
    holds.push({ taskNo, holder, begin: idx, end: end ?? Number.POSITIVE_INFINITY });
  }
  return holds;
}

interface Thought {
  readonly idx: number;
  readonly task_no: number;
  readonly recorded_by: string;
}

/** A former holder may still record a thought, because thoughts are open to every agent; it does not count. */
function isOwnThought({ idx, task_no, recorded_by }: Thought, hold: Hold | undefined): boolean {
  return task_no === hold?.taskNo && recorded_by === hold.holder && idx > hold.begin && idx < hold.end;
}

/** An accepted change with a fencing token was made by the claim of that token. */
function checkTokens(calls: readonly Call[], holds: readonly Hold[]): string[] {
  return calls.flatMap((call) => {
    const { claim } = inputOf(call);
    if (call.tool !== 'task_update' || call.outcome !== 'ok' || claim === undefined) return [];
    const hold = holds.find(({ begin }) => begin === claim);
    const isHeld = hold?.holder === call.actor && call.sequence_no > hold.begin && call.sequence_no < hold.end;
    return isHeld ? [] : [`call ${call.sequence_no}: ${call.actor} used claim ${claim}, which it did not have`];
  });
}

/** The longest silence that the decision at this index can have seen: up to the exit of the call that took over. */
function silenceAt(
  calls: readonly Call[],
  { holder, taker, idx }: { readonly holder: string; readonly taker: string; readonly idx: number },
  trueTimeOf: RefereeOptions['trueTimeOf'],
): number {
  const last = calls.findLast(({ sequence_no, actor }) => sequence_no < idx && actor === holder);
  const taking = calls
    .filter(({ exit_idx, actor }) => (exit_idx ?? 0) > idx && actor === taker)
    .toSorted((left, right) => (left.exit_idx ?? 0) - (right.exit_idx ?? 0))[0];
  return trueTimeOf(taking?.exited_at ?? '') - trueTimeOf(last?.entered_at ?? '');
}

/**
 * Takeover within one TTL and one poll, stated without a measured duration: an agent that asks for work when a task has
 * lapsed for certain is offered it, and so takes over a lapsed task next, never a free one. An agent that died before
 * its next call proves nothing.
 */
function listPolls(calls: readonly Call[], holds: readonly Hold[], options: RefereeOptions) {
  return calls.flatMap((poll) => {
    if (poll.tool !== 'task_next_actions' || poll.outcome !== 'ok') return [];
    const lapsed = holds.find((hold) => hasLapsed(hold, poll, calls, options));
    if (lapsed === undefined) return [];
    const next = calls.find(({ sequence_no, actor }) => sequence_no > poll.sequence_no && actor === poll.actor);
    if (next?.process_id !== poll.process_id) return [];
    const wanted = inputOf(next).task_id;
    const isTakeover = holds.some(
      ({ taskNo, holder, begin, end }) =>
        wanted === formatTaskId(taskNo) && holder !== poll.actor && begin < next.sequence_no && end > poll.sequence_no,
    );
    const missed = `${formatTaskId(lapsed.taskNo)}, which ${lapsed.holder} had lost by silence`;
    return [{ problem: isTakeover ? undefined : `call ${poll.sequence_no}: ${poll.actor} was not offered ${missed}` }];
  });
}

/** The claim is over the TTL when the poll begins, and neither renewed nor taken when it ends. */
function hasLapsed(hold: Hold, poll: Call, calls: readonly Call[], { ttlMs, trueTimeOf }: RefereeOptions): boolean {
  const isHeld = hold.begin < poll.sequence_no && hold.end > (poll.exit_idx ?? 0) && hold.holder !== poll.actor;
  if (!isHeld) return false;
  const last = calls.findLast(({ sequence_no, actor }) => sequence_no < (poll.exit_idx ?? 0) && actor === hold.holder);
  // The sign of life was read off the clock before the call ended.
  if (last?.exited_at == null || last.sequence_no > poll.sequence_no) return false;
  return trueTimeOf(poll.entered_at) - trueTimeOf(last.exited_at) >= ttlMs;
}

function inputOf({ arguments: text }: Call): { readonly task_id?: string; readonly claim?: number } {
  return JSON.parse(text ?? '{}') as { readonly task_id?: string; readonly claim?: number };
}
