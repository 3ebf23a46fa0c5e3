import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { databaseAt } from './ledger-place.ts';
import { processIdOf } from './process-id.ts';
import { openDesk, type TrailDesk } from './trail-server.ts';

const AT = '2026-04-08T22:00:00.000Z';

export const TWO_LEVELS = { thoughts: 75 };

/**
 * A ledger that uses every table and column: both workflows, labels, dependencies, a parent, a blocked task, sessions
 * deep and shallow, sealed, half sealed and live, thoughts with and without extras, refused calls, a call that was
 * interrupted and one that still runs. With `TWO_LEVELS` thoughts it also has inner nodes of two levels, and takes
 * three times as long to verify.
 */
export async function buildScenery(path: string, { thoughts = 5 } = {}): Promise<void> {
  await leaveCall(path, 'a-process-that-died');
  const desk = await openDesk(path);
  try {
    await makeTasks(desk);
    await makeSessions(desk);
    for (let number = 1; number <= thoughts; number += 1) {
      await desk.record({ task_id: 'T-0001', type: 'reflection', content: `thought ${number}` });
    }
    await desk.finalize({ session_id: 'A-0001' });
    await desk.start({ task_id: 'T-0001', auditor_id: 'second auditor' });
    await desk.record({ task_id: 'T-0001', type: 'decision', content: 'in a session that is not sealed' });
    await desk.refusal('task_update', { task_id: 'T-0004', status: 'done' });
    await desk.refusal('thought_record', { task_id: 'T-0001' });
  } finally {
    await desk.close();
  }
  await leaveCall(path, 'a-process-that-runs');
}

async function makeTasks(desk: TrailDesk): Promise<void> {
  const words = { title: 'Strict parser', description: 'Refuse half a pair 字 🐦', labels: ['parser', 'strict'] };
  await desk.createTask({ ...words, status: 'todo', estimate_hours: 2.5, assignee: 'alice', priority: 'high' });
  await desk.createTask({ title: 'Its tests', parent_id: 'T-0001', status: 'todo', labels: ['tests'] });
  await desk.createTask({
    title: 'Ship it',
    workflow: 'pipeline',
    project: 'release',
    depends_on: ['T-0001', 'T-0002'],
  });
  await desk.createTask({ title: 'Wait for a licence', status: 'todo', priority: 'critical' });
  await desk.updateTask({ task_id: 'T-0004', status: 'blocked', blocked_reason: 'the owner is away' });
  await desk.updateTask({ task_id: 'T-0003', status: 'GATHER', progress: 10 });
  await desk.refusal('task_create', { title: '' });
}

async function makeSessions(desk: TrailDesk): Promise<void> {
  await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', reason: 'review before release', scope: 'deep' });
  await desk.start({ task_id: 'T-0002', auditor_id: 'auditor' });
  await desk.start({ task_id: 'T-0003', auditor_id: 'other auditor', reason: 'compliance', scope: 'deep' });
  await desk.record({
    task_id: 'T-0001',
    type: 'decision',
    content: 'Use a strict parser.',
    branch: 'feature/parser',
    commit_sha: 'a3f7d9b2c',
    tests_run: ['parser.test.ts'],
    blockers: ['a licence'],
    metadata: { tokens: 1200, nested: { deep: [true, null, 'x'] } },
  });
  await desk.record({ task_id: 'T-0002', session_id: 'A-0001', type: 'discovery', content: 'covered by the parent' });
  await desk.record({ task_id: 'T-0002', type: 'risk', content: 'in a session of its own' });
  await desk.updateTask({ task_id: 'T-0002', status: 'in_progress', assignee: 'bob' });
  await desk.createTask({ title: 'A child made later', parent_id: 'T-0003' });
  await desk.record({ task_id: 'T-0003', type: 'blockers', content: 'sealed without its child', blockers: [] });
  await desk.finalize({ session_id: 'A-0003', task_id: 'T-0003' });
  await desk.finalize({ session_id: 'A-0002' });
}

/** An enter without an exit, as a process leaves it that ends in the middle of a call. */
export async function leaveCall(path: string, name: string): Promise<void> {
  const database = await openFile(path);
  try {
    await openLedger(database, 'scenery', AT);
    const event = { tool: 'task_list', args: {}, timestamp: 0, correlationId: name, actor: 'scenery', at: AT };
    await new CallRecorder(database, processIdOf(name)).enter({ ...event, argumentsText: '{"limit":5}' });
  } finally {
    await database.close();
  }
}

export async function openFile(path: string): Promise<Database> {
  return openDatabase({ mode: 'FULL', ...(await databaseAt(path)), durability: 'relaxed', readOnly: false });
}
