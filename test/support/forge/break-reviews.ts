import { setReview } from '../ledger-targets.ts';
import { openServer } from '../test-server.ts';
import { atTaskEvent, type BrokenPlace, contentWith, type Forging, type RuleBreaker } from './forging.ts';

/** A task that bob approves and alice finishes, in a project that requires another actor than alice. */
export async function buildReviewedLedger(path: string): Promise<void> {
  const alice = await openServer(path, 'alice');
  await setReview(path, 'default', 'other');
  const { task_id } = await alice.createTask({ title: 'Cache the parser', status: 'todo' });
  await alice.startSession({ task_id, auditor_id: 'auditor' });
  await alice.recordThought({ task_id, type: 'decision', content: 'why' });
  for (const status of ['in_progress', 'review']) await alice.updateTask({ task_id, status });
  const [task] = await alice.query<{ event_idx: number }>('SELECT event_idx FROM tasks');
  const metadata = { approval: { version: task?.event_idx } };
  const bob = await openServer(path, 'bob');
  await bob.recordThought({ task_id, type: 'decision', content: 'approved', metadata });
  await bob.close();
  await alice.updateTask({ task_id, status: 'done' });
  await alice.close();
}

const done = (ledger: Forging) => ledger.find('task.updated', {}, 2);
const approval = (ledger: Forging) => ledger.find('thought', { actor: 'bob' });

function forged(name: string, change: (ledger: Forging) => unknown): RuleBreaker {
  const breaks = (ledger: Forging): BrokenPlace => {
    const finish = done(ledger);
    change(ledger);
    return atTaskEvent(finish);
  };
  return { name: `a finish ${name}`, breaks };
}

/** Tasks that are finished without the approval that their project requires. */
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
];
