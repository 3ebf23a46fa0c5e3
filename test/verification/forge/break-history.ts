import type { ForgedEvent } from '../../support/forge/event.ts';
import { atEntry, atTaskEvent, contentWith, type Forging, inCycle, patched, type RuleBreaker } from './forging.ts';

const version = (ledger: Forging, task_id: string, nth = 0) => ledger.find('task.updated', { task_id }, nth);
const thought = (ledger: Forging, thought_id: string) => ledger.find('thought', { thought_id });
const started = (ledger: Forging, session_id: string) => ledger.find('session.started', { session_id });

/** Entries that are of their grammar and could not have been written where they stand. */
export const HISTORY_BREAKERS: readonly RuleBreaker[] = [
  {
    name: 'a task event in a session that never started',
    breaks: (ledger) =>
      patched(version(ledger, 'T-0002'), {
        sessions: [
          { session_id: 'A-0001', session_seq: 2 },
          { session_id: 'A-0009', session_seq: 1 },
        ],
      }),
  },
  {
    name: 'a thought in a session that never started',
    breaks: (ledger) => patched(thought(ledger, 'Θ-0004'), { session_id: 'A-0009', session_seq: 1 }),
  },
  {
    name: 'a thought in a session that starts later',
    breaks: (ledger) => {
      const event = thought(ledger, 'Θ-0003');
      ledger.moveAfter(started(ledger, 'A-0002'), event);
      return atEntry(event);
    },
  },
  {
    name: 'a thought in a session that was sealed before',
    breaks: (ledger) => {
      const event = thought(ledger, 'Θ-0004');
      ledger.moveAfter(ledger.find('session.finalized', { session_id: 'A-0003' }), started(ledger, 'A-0003'));
      return atEntry(event);
    },
  },
  {
    name: 'a thought in a session that does not cover its task',
    breaks: (ledger) => patched(thought(ledger, 'Θ-0004'), { session_id: 'A-0001', session_seq: 8 }),
  },
  {
    name: 'a task event in a session that does not cover its task',
    breaks: (ledger) => patched(version(ledger, 'T-0004'), { sessions: [{ session_id: 'A-0001', session_seq: 8 }] }),
  },
  {
    name: 'a task event that is kept out of the session that covers it',
    breaks: (ledger) => patched(version(ledger, 'T-0002', 3), { sessions: [{ session_id: 'A-0002', session_seq: 4 }] }),
  },
  {
    name: 'a session of a task that does not exist',
    breaks: (ledger) => {
      const event = started(ledger, 'A-0003');
      event.fields['task_id'] = 'T-0099';
      return atEntry(event);
    },
  },
  {
    name: 'a session of a task that is created later',
    breaks: (ledger) => {
      const event = started(ledger, 'A-0001');
      ledger.moveAfter(event, ledger.find('genesis'));
      return atEntry(event);
    },
  },
  {
    name: 'two live sessions of one task',
    breaks: (ledger) => {
      const event = started(ledger, 'A-0003');
      event.fields['task_id'] = 'T-0002';
      ledger.moveAfter(event, started(ledger, 'A-0002'));
      return atEntry(event);
    },
  },
  {
    name: 'a number of a session left out',
    breaks: (ledger) => {
      for (const { fields } of ledger.events) if (fields['session_id'] === 'A-0003') fields['session_id'] = 'A-0004';
      const event = version(ledger, 'T-0003');
      event.fields['sessions'] = [{ session_id: 'A-0004', session_seq: 2 }];
      return atEntry(started(ledger, 'A-0004'));
    },
  },
  {
    name: 'a seal over no record',
    breaks: (ledger) => {
      const seal = ledger.find('session.finalized', { session_id: 'A-0003' });
      seal.fields['task_id'] = 'T-0001';
      return atEntry(seal);
    },
  },
  {
    name: 'a seal of a session without any record',
    breaks: (ledger) => {
      const last = ledger.events.at(-1);
      const seal = ledger.find('session.finalized', { session_id: 'A-0002' });
      const session_id = 'A-0004';
      const empty = ledger.repeat(started(ledger, 'A-0003'), { session_id, task_id: 'T-0004' });
      ledger.insertAfter(last ?? seal, empty);
      return atEntry(ledger.insertAfter(empty, ledger.repeat(seal, { session_id })));
    },
  },
  {
    name: 'a seal of a session that never started',
    breaks: (ledger) => {
      const seal = ledger.find('session.finalized', { session_id: 'A-0002' });
      return atEntry(ledger.insertAfter(seal, ledger.repeat(seal, { session_id: 'A-0009' })));
    },
  },
  {
    name: 'a second seal of one session',
    breaks: (ledger) => {
      const seal = ledger.find('session.finalized', { session_id: 'A-0002' });
      return atEntry(ledger.insertAfter(seal, ledger.repeat(seal)));
    },
  },
  {
    name: 'a seal that leaves a record out',
    breaks: (ledger) => patched(ledger.find('session.finalized', { session_id: 'A-0002' }), { leaf_count: 1 }),
  },
  {
    name: 'two thoughts with their numbers swapped',
    breaks: (ledger) => {
      const [first, second] = [thought(ledger, 'Θ-0001'), thought(ledger, 'Θ-0002')];
      first.fields['thought_id'] = 'Θ-0002';
      second.fields['thought_id'] = 'Θ-0001';
      return atEntry(first);
    },
  },
  {
    name: 'a number of a thought left out',
    breaks: (ledger) => {
      const last = thought(ledger, 'Θ-0004');
      last.fields['thought_id'] = 'Θ-0005';
      return atEntry(last);
    },
  },
  {
    name: 'a thought about a task that does not exist',
    breaks: (ledger) => {
      const event = thought(ledger, 'Θ-0004');
      event.fields['task_id'] = 'T-0099';
      return atEntry(event);
    },
  },
  {
    name: 'a thought that counts for another attempt',
    breaks: (ledger) => patched(thought(ledger, 'Θ-0001'), { attempt: 2 }),
  },
  {
    name: 'a chain that begins at the second position',
    breaks: (ledger) => patched(thought(ledger, 'Θ-0001'), { chain_position: 2 }),
  },
  {
    name: 'a place in a session left out',
    breaks: (ledger) => {
      const event = thought(ledger, 'Θ-0004');
      event.fields['session_seq'] = 2;
      version(ledger, 'T-0003').fields['sessions'] = [{ session_id: 'A-0003', session_seq: 3 }];
      return atEntry(event);
    },
  },
  {
    name: 'a number of a task left out',
    breaks: (ledger) => {
      for (const event of ledger.events.filter(({ fields }) => fields['task_id'] === 'T-0004')) {
        event.fields['task_id'] = 'T-0005';
        contentWith(event, { task_id: 'T-0005' });
      }
      return atEntry(ledger.find('task.created', { task_id: 'T-0005' }));
    },
  },
  {
    name: 'a change of a task before its creation',
    breaks: (ledger) => {
      const event = version(ledger, 'T-0004');
      ledger.moveAfter(event, ledger.find('genesis'));
      return atEntry(event);
    },
  },
  {
    name: 'a task that is created twice',
    breaks: (ledger) => {
      const created = ledger.find('task.created', { task_id: 'T-0004' });
      return atEntry(ledger.insertAfter(created, ledger.repeat(created)));
    },
  },
  {
    name: 'a sequence within the project left out',
    breaks: (ledger) => {
      for (const event of ledger.events.filter(({ fields }) => fields['task_id'] === 'T-0004'))
        contentWith(event, { sequence: 7 });
      return atTaskEvent(ledger.find('task.created', { task_id: 'T-0004' }));
    },
  },
  ...(
    [
      ['a parent that is created later', { parent_id: 'T-0004' }],
      ['a dependency that is created later', { depends_on: ['T-0004'] }],
      ['a dependency on itself', { depends_on: ['T-0002'] }],
      ['a step that its workflow does not allow', { status: 'review' }],
      ['done without any thought record', { status: 'done' }],
      ['an attempt that was never begun', { attempt: 2 }],
    ] as const
  ).map(([name, changes]) => ({
    name: `a change with ${name}`,
    breaks: (ledger: Forging) => atTaskEvent(contentWith(version(ledger, 'T-0002'), changes)),
  })),
  {
    name: 'a task that is sent back and stays in its attempt',
    breaks: (ledger) => {
      const back = contentWith(version(ledger, 'T-0002', 3), { status: 'backlog' });
      return atTaskEvent(back);
    },
  },
  {
    name: 'a step that is no sending back and begins another attempt',
    breaks: (ledger) => atTaskEvent(contentWith(version(ledger, 'T-0002', 1), { attempt: 2 })),
  },
  {
    name: 'two tasks that depend on each other',
    breaks: (ledger) => {
      contentWith(ledger.find('task.created', { task_id: 'T-0004' }), { depends_on: ['T-0003'] });
      contentWith(version(ledger, 'T-0004'), { depends_on: ['T-0003'] });
      const last = ledger.events.at(-1) as ForgedEvent;
      const first = ledger.repeat(version(ledger, 'T-0003'), { sessions: [] });
      return inCycle(ledger.insertAfter(last, contentWith(first, { depends_on: ['T-0001', 'T-0004'] })));
    },
  },
  {
    name: 'a task that depends on its parent',
    breaks: (ledger) => {
      for (const nth of [0, 1, 2, 3]) contentWith(version(ledger, 'T-0002', nth), { depends_on: ['T-0001'] });
      contentWith(ledger.find('task.created', { task_id: 'T-0002' }), { depends_on: ['T-0001'] });
      return inCycle(ledger.find('task.created', { task_id: 'T-0001' }));
    },
  },
  {
    name: 'done before the thought record that it needs',
    breaks: (ledger) => {
      const done = version(ledger, 'T-0002', 3);
      for (const id of ['Θ-0002', 'Θ-0003']) ledger.moveAfter(thought(ledger, id), done);
      return atTaskEvent(done);
    },
  },
  ...(
    [
      ['as done', { status: 'done' }],
      ['with progress', { progress: 50 }],
      ['with a holder', { holder: 'tester' }],
      ['with a former holder', { taken_from: 'tester' }],
      ['in its second attempt', { attempt: 2 }],
      ['by another actor', { created_by: 'mallory' }],
      ['at another time', { created_at: '2026-01-01T00:00:00.000Z' }],
    ] as const
  ).map(([name, changes]) => ({
    name: `a task that is created ${name}`,
    breaks: (ledger: Forging) => atTaskEvent(contentWith(ledger.find('task.created', { task_id: 'T-0001' }), changes)),
  })),
  {
    name: 'a call that is left twice',
    breaks: (ledger) => {
      const exit = ledger.find('action.exit', {}, 2);
      return atEntry(ledger.insertAfter(exit, ledger.repeat(exit)));
    },
  },
  {
    name: 'a call that is left before it is entered',
    breaks: (ledger) => {
      const exit = ledger.find('action.exit', {}, 2);
      ledger.moveAfter(exit, ledger.find('genesis'));
      return atEntry(exit);
    },
  },
  {
    name: 'a second genesis',
    breaks: (ledger) => {
      const genesis = ledger.find('genesis');
      return atEntry(ledger.insertAfter(genesis, ledger.repeat(genesis)));
    },
  },
];
