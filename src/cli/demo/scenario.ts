import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { createEnvironment } from '../../config.ts';
import { openSqlite } from '../../db/sqlite/database.ts';
import { parseJson } from '../../integrity/index.ts';
import type { Agent, Answer } from './agent.ts';

/** One line of the story, and the answers that it was told from. */
export interface Step {
  readonly step: string;
  readonly says: string;
  readonly mood: 'plain' | 'good' | 'refused' | 'bad';
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface Stage {
  readonly alice: Agent;
  readonly bob: Agent;
  readonly ledger: string;
  readonly folder: string;
}

const TITLE = 'Rotate the signing key';
const REASON = 'The old key was in a log file; a new one is in the vault, and the old one is revoked.';
const FORGERY = 'Routine rotation, nothing happened.';

/** Plays the scenes one after the other. Whatever does not go as it should throws, and the story ends there. */
export async function* play(stage: Stage): AsyncGenerator<Step> {
  const { alice, bob } = stage;
  const created = await granted(alice, 'task_create', { title: TITLE, status: 'todo', priority: 'high' });
  const taskId = textOf(created, 'task_id');
  yield { step: 'create', says: `alice adds ${taskId} "${TITLE}"`, mood: 'plain', evidence: created };

  const { winner, loser, step: race } = await playRace(alice, bob, taskId);
  yield race;

  await granted(winner, 'task_update', { task_id: taskId, status: 'review' });
  const shortcut = await refused(winner, 'task_update', { task_id: taskId, status: 'done' }, 'ERR_WRITEBACK_REQUIRED');
  const says = `${winner.name} wants it done without a word: ${shortcut.code}`;
  yield { step: 'shortcut', says, mood: 'refused', evidence: shortcut };

  const sessionId = yield* playSession(winner, taskId);
  const check = await granted(loser, 'audit_verify_chain', { session_id: sessionId });
  expect(check['integrity_score'] === 100, 'the sealed session does not verify', check);
  const checked = `${loser.name} checks the work of ${winner.name}: ${numberOf(check, 'total_records')} record(s), integrity ${numberOf(check, 'integrity_score')}`;
  yield { step: 'check', says: checked, mood: 'good', evidence: check };

  yield await playVerify(stage, 'verify', 'whole', 'colibri verify: ');
  await rewriteReason(stage.ledger, REASON, FORGERY);
  const edit = { table: 'thoughts', column: 'content', before: REASON, after: FORGERY };
  yield {
    step: 'forgery',
    says: `somebody rewrites the reason in the SQLite file: "${FORGERY}"`,
    mood: 'plain',
    evidence: edit,
  };
  yield await playVerify(stage, 'caught', 'tampered', 'colibri verify: ');
  await rewriteReason(stage.ledger, FORGERY, REASON);
  yield await playVerify(stage, 'mended', 'whole', 'the edit is undone, colibri verify: ');
}

async function playRace(alice: Agent, bob: Agent, taskId: string) {
  const claim = { task_id: taskId, status: 'in_progress' };
  const [first, second] = await Promise.all([alice.call('task_update', claim), bob.call('task_update', claim)]);
  const answers = { alice: first.error ?? first.data, bob: second.error ?? second.data };
  expect((first.error === undefined) !== (second.error === undefined), 'the race has not exactly one winner', answers);
  const [winner, loser, refusal] = first.error === undefined ? [alice, bob, second.error] : [bob, alice, first.error];
  expect(refusal?.['assignee'] === winner.name, 'the loser is not told who won', answers);
  const says = `alice and bob reach for it at once: ${winner.name} has it, ${loser.name} is told "${refusal?.message}"`;
  return { winner, loser, step: { step: 'race', says, mood: 'plain', evidence: answers } satisfies Step };
}

async function* playSession(agent: Agent, taskId: string): AsyncGenerator<Step, string> {
  const session = await granted(agent, 'audit_session_start', { task_id: taskId, auditor_id: agent.name });
  const sessionId = textOf(session, 'session_id');
  const thought = await granted(agent, 'thought_record', { task_id: taskId, type: 'decision', content: REASON });
  const says = `${agent.name} opens session ${sessionId} and writes down why: ${textOf(thought, 'thought_id')} "${REASON}"`;
  yield { step: 'thought', says, mood: 'plain', evidence: { session, thought } };
  const done = await granted(agent, 'task_update', { task_id: taskId, status: 'done' });
  yield { step: 'done', says: `now ${taskId} may be done`, mood: 'good', evidence: done };
  const seal = await granted(agent, 'merkle_finalize', { session_id: sessionId });
  const sealed = `${agent.name} seals ${sessionId}: ${numberOf(seal, 'leaf_count')} records, root ${short(textOf(seal, 'merkle_root'))}`;
  yield { step: 'seal', says: sealed, mood: 'good', evidence: seal };
  return sessionId;
}

async function playVerify(stage: Stage, step: string, expected: string, intro: string): Promise<Step> {
  const report = await verify(stage);
  expect(report.verdict === expected, `verify says ${report.verdict} instead of ${expected}`, { report });
  const [first] = report.problems;
  const says =
    first === undefined
      ? `${intro}whole, ${report.size} entries, root ${short(report.root)}`
      : `${intro}TAMPERED at ${first.place} (${first.problem})`;
  return { step, says, mood: first === undefined ? 'good' : 'bad', evidence: { ...report } };
}

interface Report {
  readonly verdict: string;
  readonly size: number;
  readonly root: string;
  readonly problems: readonly { readonly place: string; readonly problem: string }[];
}

/** The command that users have, in a process of its own. */
async function verify({ ledger, folder }: Stage): Promise<Report> {
  const child = spawn(process.execPath, [String(process.argv[1]), 'verify', '--json'], {
    cwd: folder,
    env: createEnvironment({ COLIBRI_DB_PATH: ledger }),
    // Its progress bar would run into the story; what goes wrong is on its standard output too.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return parseJson(await text(child.stdout)) as Report;
}

/** What anybody with a SQLite shell can do: no tool, no entry, no trace but the changed row. */
async function rewriteReason(path: string, before: string, after: string): Promise<void> {
  const database = await openSqlite({ path, readOnly: false, durability: 'full', busyTimeoutMs: 5000 });
  try {
    const rows = await database.write({ durable: true }, (transaction) =>
      transaction.query('UPDATE thoughts SET content = $1 WHERE content = $2 RETURNING thought_no', [after, before]),
    );
    expect(rows.length === 1, 'the row to edit is not there', { rows });
  } finally {
    await database.close();
  }
}

async function granted(agent: Agent, tool: string, input: Record<string, unknown>): Promise<Answer['data']> {
  const { data, error } = await agent.call(tool, input);
  expect(error === undefined, `${tool} was refused: ${error?.message}`, { error });
  return data;
}

async function refused(agent: Agent, tool: string, input: Record<string, unknown>, code: string) {
  const { data, error } = await agent.call(tool, input);
  if (error?.code !== code) throw new Error(`${tool} was not refused with ${code}: ${JSON.stringify(error ?? data)}`);
  return error;
}

function expect(holds: boolean, problem: string, evidence: object): void {
  if (!holds) throw new Error(`${problem}: ${JSON.stringify(evidence)}`);
}

function textOf(data: Answer['data'], field: string): string {
  const value = data[field];
  if (typeof value !== 'string') throw new Error(`the answer has no ${field}: ${JSON.stringify(data)}`);
  return value;
}

function numberOf(data: Answer['data'], field: string): number {
  const value = data[field];
  if (typeof value !== 'number') throw new Error(`the answer has no ${field}: ${JSON.stringify(data)}`);
  return value;
}

function short(hash: string): string {
  return `${hash.slice(0, 12)}…`;
}
