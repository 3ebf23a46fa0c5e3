import { leaveCall } from './full-ledger.ts';
import { openDesk } from './trail-server.ts';

/** A short ledger with every kind of entry, every field of a content, and arguments that were cut. */
export async function buildRuleLedger(path: string): Promise<void> {
  await leaveCall(path, 'a-process-that-died');
  await buildFinishedLedger(path);
  await leaveCall(path, 'a-process-that-runs');
}

/** The same where every call has ended, so that verification need not read row by row. */
export async function buildFinishedLedger(path: string): Promise<void> {
  const desk = await openDesk(path);
  try {
    await desk.createTask({ title: 'Strict parser', status: 'todo', labels: ['red'], estimate_hours: 2.5 });
    await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', reason: 'a\nreview', scope: 'deep' });
    await desk.createTask({ title: 'Its tests', parent_id: 'T-0001', status: 'todo' });
    await desk.updateTask({ task_id: 'T-0002', progress: 10 });
    await desk.start({ task_id: 'T-0002', auditor_id: 'auditor' });
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
    await desk.record({ task_id: 'T-0002', session_id: 'A-0001', type: 'discovery', content: 'two\nlines 字' });
    await desk.record({ task_id: 'T-0002', type: 'risk', content: 'x'.repeat(5000) });
    for (const status of ['in_progress', 'review', 'done']) await desk.updateTask({ task_id: 'T-0002', status });
    const others = { project: 'other', workflow: 'pipeline', depends_on: ['T-0001'], description: '"'.repeat(5000) };
    await desk.createTask({ title: 'Ship it', ...others });
    await desk.start({ task_id: 'T-0003', auditor_id: 'auditor' });
    await desk.record({ task_id: 'T-0003', type: 'reflection', content: 'why' });
    await desk.updateTask({ task_id: 'T-0003', status: 'GATHER' });
    await desk.finalize({ session_id: 'A-0003', task_id: 'T-0003' });
    await desk.finalize({ session_id: 'A-0002' });
    await desk.createTask({ title: 'Wait for a licence', status: 'todo', priority: 'critical' });
    await desk.updateTask({ task_id: 'T-0004', status: 'blocked', blocked_reason: 'the owner is away' });
    await desk.refusal('task_create', { title: '' });
  } finally {
    await desk.close();
  }
}
