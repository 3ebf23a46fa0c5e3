import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { createEnvironment } from '../../config.ts';
import { openSqlite } from '../../db/sqlite/database.ts';
import { parseJson } from '../../integrity/index.ts';
import { plural } from '../views/terminal.ts';
import type { Agent, Answer } from './agent.ts';

/** One line of the demo, with the tool results that it is based on. */
export interface Step {
  readonly step: string;
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'refused' | 'bad';
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface DemoSetup {
  readonly alice: Agent;
  readonly bob: Agent;
  readonly ledger: string;
  readonly folder: string;
}

const TITLE = 'Rotate the signing key';
const REASON = 'The old key was in a log file; a new one is in the vault, and the old one is revoked.';
const FORGERY = 'Routine rotation, nothing happened.';

/** Runs the steps in order. Throws at the first unexpected result. */
export async function* playScenario(setup: DemoSetup): AsyncGenerator<Step> {
  const { alice, bob } = setup;
  const created = await granted(alice, 'task_create', { title: TITLE, status: 'todo', priority: 'high' });
  const taskId = textOf(created, 'task_id');
  yield { step: 'create', text: `alice creates ${taskId} "${TITLE}"`, tone: 'plain', evidence: created };

  const { winner, loser, step: race } = await playRace(alice, bob, taskId);
  yield race;

  await granted(winner, 'task_update', { task_id: taskId, status: 'review' });
  const shortcut = await refused(winner, 'task_update', { task_id: taskId, status: 'done' }, 'ERR_WRITEBACK_REQUIRED');
  const text = `${winner.name} tries to finish without recording a decision: ${shortcut.code}`;
  yield { step: 'shortcut', text, tone: 'refused', evidence: shortcut };

  const sessionId = yield* playSession(winner, taskId);
  const check = await granted(loser, 'audit_verify_chain', { session_id: sessionId });
  expect(check['integrity_score'] === 100, 'the sealed session does not verify', check);
  const checked = `${loser.name} verifies the session of ${winner.name}: ${plural(numberOf(check, 'total_records'), 'record')}, integrity ${numberOf(check, 'integrity_score')}`;
  yield { step: 'check', text: checked, tone: 'good', evidence: check };

  yield await playVerify(setup, 'verify', 'whole', 'colibri verify: ');
  await rewriteReason(setup.ledger, REASON, FORGERY);
  const edit = { table: 'thoughts', column: 'content', before: REASON, after: FORGERY };
  yield {
    step: 'forgery',
    text: `an intruder rewrites the decision in the SQLite file: "${FORGERY}"`,
    tone: 'plain',
    evidence: edit,
  };
  yield await playVerify(setup, 'caught', 'tampered', 'colibri verify: ');
  await rewriteReason(setup.ledger, FORGERY, REASON);
  yield await playVerify(setup, 'fixed', 'whole', 'the edit is undone, colibri verify: ');
}

async function playRace(alice: Agent, bob: Agent, taskId: string) {
  const claim = { task_id: taskId, status: 'in_progress' };
  const [first, second] = await Promise.all([alice.call('task_update', claim), bob.call('task_update', claim)]);
  const answers = { alice: first.error ?? first.data, bob: second.error ?? second.data };
  expect(
    (first.error === undefined) !== (second.error === undefined),
    'the race does not have exactly one winner',
    answers,
  );
  const [winner, loser, refusal] = first.error === undefined ? [alice, bob, second.error] : [bob, alice, first.error];
  expect(refusal?.['holder'] === winner.name, 'the refusal does not name the winner', answers);
  const text = `alice and bob claim it at the same time: ${winner.name} wins, ${loser.name} is refused: ${refusal?.code}, held by ${winner.name}`;
  return { winner, loser, step: { step: 'race', text, tone: 'plain', evidence: answers } satisfies Step };
}

async function* playSession(agent: Agent, taskId: string): AsyncGenerator<Step, string> {
  const session = await granted(agent, 'audit_session_start', { task_id: taskId, auditor_id: agent.name });
  const sessionId = textOf(session, 'session_id');
  const thought = await granted(agent, 'thought_record', { task_id: taskId, type: 'decision', content: REASON });
  const text = `${agent.name} opens session ${sessionId} and records the decision ${textOf(thought, 'thought_id')} "${REASON}"`;
  yield { step: 'thought', text, tone: 'plain', evidence: { session, thought } };
  const done = await granted(agent, 'task_update', { task_id: taskId, status: 'done' });
  yield { step: 'done', text: `${agent.name} finishes ${taskId}: accepted`, tone: 'good', evidence: done };
  const seal = await granted(agent, 'merkle_finalize', { session_id: sessionId });
  const sealed = `${agent.name} seals ${sessionId}: ${numberOf(seal, 'leaf_count')} records, root ${short(textOf(seal, 'merkle_root'))}`;
  yield { step: 'seal', text: sealed, tone: 'good', evidence: seal };
  return sessionId;
}

async function playVerify(setup: DemoSetup, step: string, expected: string, intro: string): Promise<Step> {
  const report = await verify(setup);
  expect(report.verdict === expected, `verify reports ${report.verdict} instead of ${expected}`, { report });
  const [first] = report.problems;
  const text =
    first === undefined
      ? `${intro}whole, ${report.size} entries, root ${short(report.root)}`
      : `${intro}TAMPERED at ${first.place} (${first.problem})`;
  return { step, text, tone: first === undefined ? 'good' : 'bad', evidence: { ...report } };
}

interface Report {
  readonly verdict: string;
  readonly size: number;
  readonly root: string;
  readonly problems: readonly { readonly place: string; readonly problem: string }[];
}

/** Runs the command in its own process, as users do. */
async function verify({ ledger, folder }: DemoSetup): Promise<Report> {
  const child = spawn(process.execPath, [String(process.argv[1]), 'verify', '--json'], {
    cwd: folder,
    env: createEnvironment({ COLIBRI_DB_PATH: ledger }),
    // The progress bar would disturb the output of the demo; errors are on stdout too.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return parseJson(await readText(child.stdout)) as Report;
}

/** Edits the row as a person with an SQLite shell could: without a tool and without an entry. */
async function rewriteReason(path: string, before: string, after: string): Promise<void> {
  const database = await openSqlite({ path, readOnly: false, durability: 'full', busyTimeoutMs: 5000 });
  try {
    const rows = await database.write({ durable: true }, (transaction) =>
      transaction.query('UPDATE thoughts SET content = $1 WHERE content = $2 RETURNING thought_no', [after, before]),
    );
    expect(rows.length === 1, 'the row to edit is missing', { rows });
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
