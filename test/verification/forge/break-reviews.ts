import { mkdtempSync } from 'node:fs';
import { edited, observe, ran, updated } from '../../evidence/observed-server.ts';
import { setOptions } from '../../support/ledger-targets.ts';
import { openServer } from '../../support/test-server.ts';
import { atTaskEvent, type BrokenPlace, contentWith, type Forging, type RuleBreaker } from './forging.ts';

/** A task that bob approves and alice finishes, in a project that requires another actor than alice, and a run. */
export async function buildReviewedLedger(path: string): Promise<void> {
  const alice = await openServer(path, 'alice');
  await setOptions(path, 'default', { review: 'other', require_observed: ['npm test'] });
  const { task_id } = await alice.createTask({ title: 'Cache the parser', status: 'todo' });
  await alice.startSession({ task_id, auditor_id: 'auditor' });
  await alice.recordThought({ task_id, type: 'decision', content: 'why' });
  const { report } = observe(alice, mkdtempSync(`${path}-`));
  await alice.updateTask({ task_id, status: 'in_progress' });
  await report(updated(task_id, 'in_progress'));
  await report(edited('a.ts'));
  await alice.updateTask({ task_id, status: 'review' });
  await report(updated(task_id, 'review'));
  await report(ran('npm test'));
  const [task] = await alice.query<{ event_idx: number }>('SELECT event_idx FROM tasks');
  const metadata = { approval: { version: task?.event_idx } };
  const bob = await openServer(path, 'bob');
  await bob.recordThought({ task_id, type: 'decision', content: 'approved', metadata });
  await bob.close();
  await alice.updateTask({ task_id, status: 'done' });
  await alice.close();
}

const done = (ledger: Forging) => ledger.find('task.updated', {}, 2);
const run = (ledger: Forging) => ledger.find('observed', { tool: 'Bash' });
const approval = (ledger: Forging) => ledger.find('thought', { actor: 'bob' });

function forged(name: string, change: (ledger: Forging) => unknown): RuleBreaker {
  const breaks = (ledger: Forging): BrokenPlace => {
    const finish = done(ledger);
    change(ledger);
    return atTaskEvent(finish);
  };
  return { name: `a finish ${name}`, breaks };
}

/** Tasks that are finished without the approval or the run that their project requires. */
export const REVIEW_BREAKERS: readonly RuleBreaker[] = [
  forged('without an approval', (ledger) => ledger.remove(approval(ledger))),
  forged('with a thought that approves nothing', (ledger) => contentWith(approval(ledger), { metadata: {} })),
  forged('with an approval of its own actor', (ledger) => {
    approval(ledger).fields['actor'] = 'alice';
  }),
  forged('with an approval of a version from before the review', (ledger) =>
    contentWith(approval(ledger), { metadata: { approval: { version: 3 } } }),
  ),
  forged('with an approval from before the review', (ledger) =>
    ledger.moveAfter(approval(ledger), ledger.find('task.updated')),
  ),
  forged('with an approval that was recorded later', (ledger) => ledger.moveAfter(approval(ledger), done(ledger))),
  forged('with an approval of an agent where a person is required', (ledger) =>
    contentWith(ledger.find('project.options'), { review: 'person' }),
  ),
  forged('without the run', (ledger) => ledger.remove(run(ledger))),
  forged('with a run that failed', (ledger) => Object.assign(run(ledger).fields, { exit_code: 1, outcome: 'failed' })),
  forged('with a run that was only announced', (ledger) => Object.assign(run(ledger).fields, { phase: 'before' })),
  forged('with a run of another session', (ledger) => Object.assign(run(ledger).fields, { session: 's-2' })),
  forged('with a run of a sub-agent that works on another task', (ledger) =>
    Object.assign(run(ledger).fields, { agent: 'a', agent_task: 'none' }),
  ),
  forged('with a run that was observed later', (ledger) => ledger.moveAfter(run(ledger), done(ledger))),
  forged('with an edit after the run', (ledger) => {
    const edit = ledger.find('observed', { tool: 'Edit' });
    const again = ledger.repeat(edit, { key: 'e'.repeat(32), call_id: 'again' });
    ledger.insertAfter(run(ledger), again);
  }),
];
