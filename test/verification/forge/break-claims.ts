import type { ForgedEvent, Loose } from '../../support/forge/event.ts';
import { atTaskEvent, contentWith, type Forging, type RuleBreaker } from './forging.ts';

/** The versions of T-0002: progress, in_progress, review, done. */
const version = (ledger: Forging, nth: number) => ledger.find('task.updated', { task_id: 'T-0002' }, nth);

/** One more version of T-0003, which its actor holds in GATHER, behind the last entry. */
function added(ledger: Forging, actor: string, changes: Loose): ForgedEvent {
  const last = ledger.events.at(-1) as ForgedEvent;
  const held = ledger.find('task.updated', { task_id: 'T-0003' });
  const event = ledger.repeat(held, { actor, sessions: [] });
  return ledger.insertAfter(last, contentWith(event, { updated_by: actor, ...changes }));
}

/** Versions of tasks that are of their grammar and that no claim rule allows. */
export const CLAIM_BREAKERS: readonly RuleBreaker[] = [
  {
    name: 'a claim that makes another actor the holder',
    breaks: (ledger) => atTaskEvent(contentWith(version(ledger, 1), { holder: 'mallory' })),
  },
  {
    name: 'a claim of a free task that names a former holder',
    breaks: (ledger) => atTaskEvent(contentWith(version(ledger, 1), { taken_from: 'mallory' })),
  },
  {
    name: 'a task in todo with a holder',
    breaks: (ledger) => atTaskEvent(contentWith(version(ledger, 0), { holder: 'tester' })),
  },
  {
    name: 'a task in review with a holder',
    breaks: (ledger) => atTaskEvent(contentWith(version(ledger, 2), { holder: 'tester' })),
  },
  {
    name: 'a takeover that does not name the former holder',
    breaks: (ledger) => atTaskEvent(added(ledger, 'mallory', { holder: 'mallory' })),
  },
  {
    name: 'a takeover that names another former holder',
    breaks: (ledger) => atTaskEvent(added(ledger, 'mallory', { holder: 'mallory', taken_from: 'alice' })),
  },
  {
    name: 'a takeover for a third actor',
    breaks: (ledger) => atTaskEvent(added(ledger, 'mallory', { holder: 'alice', taken_from: 'tester' })),
  },
  {
    name: 'a step of another actor that leaves the holder in place',
    breaks: (ledger) => atTaskEvent(added(ledger, 'mallory', { status: 'ANALYZE' })),
  },
  {
    name: 'a holder that names itself as the former one',
    breaks: (ledger) => atTaskEvent(added(ledger, 'tester', { progress: 5, taken_from: 'tester' })),
  },
];
