// What the ledger must contain after a session. Pure: compares observations with the steps that were played.
import { actionOf, MISSING_COMMIT, TASK, TEST_COMMAND, UNRUN_COMMAND } from './session.mjs';

/** Every step was observed once, in order, with its outcome, its exit code and its task. Returns what is wrong. */
export function checkActions(observations, steps, driver) {
  const calls = groupCalls(observations.filter(({ entry }) => entry.kind === 'observed' && entry.action !== undefined));
  const actual = calls.map(describeCall);
  const expected = steps.map((step, index) => describeStep(step, driver, index <= lastHeld(steps)));
  const count = Math.max(actual.length, expected.length);
  return Array.from({ length: count }, (_, index) => index)
    .filter((index) => actual[index] !== expected[index])
    .map(
      (index) => `step ${index + 1}: expected ${expected[index] ?? 'nothing'}, observed ${actual[index] ?? 'nothing'}`,
    );
}

/** The session began, stopped and ended once, and every event names the same session and client. */
export function checkSession(observations, driver) {
  const events = observations.filter(({ entry }) => entry.kind === 'observed').map(({ entry }) => entry);
  const problems = [];
  const sessions = new Set(events.map(({ session }) => session));
  const clients = [...new Set(events.map(({ client }) => client))];
  if (sessions.size !== 1) problems.push(`expected one session, observed ${sessions.size}`);
  if (clients.join() !== driver.id)
    problems.push(`expected the client ${driver.id}, observed ${clients.join() || 'none'}`);
  for (const phase of ['session_start', 'stop', ...(driver.hasNoSessionEnd ? [] : ['session_end'])]) {
    const count = events.filter((event) => event.phase === phase).length;
    if (count !== 1) problems.push(`expected one event of the phase ${phase}, observed ${count}`);
  }
  return problems;
}

/** The last report of the coverage misses no call. */
export function checkCoverage(observations, steps, { limits = {} }) {
  const reports = observations.filter(({ entry }) => entry.kind === 'observed.coverage');
  if (limits.coverage !== undefined) return reports.length === 0 ? [] : [`a report in spite of: ${limits.coverage}`];
  const { entry } = reports.at(-1) ?? {};
  if (entry === undefined) return ['no coverage was recorded'];
  if (entry.seen !== steps.length) return [`the transcript names ${entry.seen} of ${steps.length} calls`];
  return entry.recorded === entry.seen ? [] : [`${entry.recorded} of ${entry.seen} calls were recorded`];
}

/** git reported the commit of the session once, and it belongs to the task. */
export function checkCommit(observations, head, { limits = {} }) {
  const commits = observations.filter(({ entry }) => entry.kind === 'observed.commit').map(({ entry }) => entry);
  if (limits.commit !== undefined) return commits.length === 0 ? [] : [`a commit in spite of: ${limits.commit}`];
  if (commits.length !== 1) return [`expected one commit, observed ${commits.length}`];
  const [{ sha, task_id }] = commits;
  if (sha !== head) return [`expected the commit ${head}, observed ${sha}`];
  return task_id === TASK ? [] : [`the commit belongs to ${task_id ?? 'no task'}`];
}

/** Distinguishes what an agent said from what was observed. `evidence` is that of `task_get`. */
export function checkEvidence(evidence, head, { limits = {} }) {
  if (evidence === undefined) return ['task_get has no evidence'];
  const expected = {
    [`tests_run ${TEST_COMMAND}`]: 'observed',
    [`tests_run ${UNRUN_COMMAND}`]: 'said',
    [`commit_sha ${head}`]: limits.commit === undefined ? 'observed' : 'said',
    // Without any observed commit, nothing tells that one is missing.
    [`commit_sha ${MISSING_COMMIT}`]: limits.commit === undefined ? 'contradicted' : 'said',
  };
  const actual = Object.fromEntries(evidence.map(({ field, value, state }) => [`${field} ${value}`, state]));
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    .filter((name) => actual[name] !== expected[name])
    .map((name) => `${name}: expected ${expected[name] ?? 'nothing'}, found ${actual[name] ?? 'nothing'}`);
}

/** A session gives its task up when it asks for a review. */
function lastHeld(steps) {
  return steps.findIndex(({ tool, input }) => tool === 'task_update' && input().status === 'review');
}

function describeStep(step, driver, isHeld) {
  const action = actionOf(step);
  const exitCode = action === 'shell' && !driver.hidesExitCodes ? step.exitCode : undefined;
  const outcome = action === 'shell' && driver.hidesExitCodes ? 'unknown' : step.fails ? 'failed' : 'ok';
  const subject = step.command ?? step.path ?? step.tool;
  return describe({ action, outcome, exitCode, task: isHeld ? TASK : undefined, subject });
}

function describeCall({ before, ends }) {
  if (ends.length > 1) return `${describeEnd(ends[0])}, ${ends.length} times`;
  return ends.length === 0 ? describeEnd(before, 'unfinished') : describeEnd(ends[0]);
}

function describeEnd({ entry, content }, outcome = entry.outcome) {
  const { action, exit_code: exitCode, task_id: task, tool } = entry;
  const file = content.path?.split(/[/\\]/).at(-1);
  const subject = content.command ?? file ?? /(?:task|audit|thought)_[a-z_]+$/.exec(tool)?.[0] ?? tool;
  return describe({ action, outcome, exitCode, task, subject });
}

function describe({ action, outcome, exitCode, task, subject }) {
  return `${action} "${subject}" ${outcome}${exitCode === undefined ? '' : ` (exit code ${exitCode})`} of ${task ?? 'no task'}`;
}

/** The reports of one call, by its id; without one, by their order, because the session makes one call at a time. */
function groupCalls(observations) {
  const calls = [];
  for (const observation of observations) {
    const { call_id: id, phase, tool } = observation.entry;
    const known =
      id === undefined
        ? calls.findLast((call) => call.tool === tool && (phase === 'before' ? false : call.ends.length === 0))
        : calls.find((call) => call.id === id);
    const call = known ?? { id, tool, before: undefined, ends: [] };
    if (known === undefined) calls.push(call);
    if (phase === 'before') call.before ??= observation;
    else call.ends.push(observation);
  }
  return calls;
}
