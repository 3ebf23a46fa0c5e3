import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { TASK_GRAMMAR } from '../../integrity/bundle/task-grammar.ts';
import { canonicalize, isWithoutText, taskDefect, withoutText } from '../../integrity/index.ts';
import { TASK_FIELDS } from './fields/table.ts';
import { taskFields } from './record.ts';

const TASK = {
  assignee: 'unassigned',
  attempt: 1,
  blocked_reason: null,
  created_at: '2026-04-08T22:15:30.123Z',
  created_by: '',
  depends_on: ['T-0001'],
  description: 'two\nlines\twith a tab',
  estimate_hours: 0.5,
  labels: ['red', 'blue'],
  parent_id: null,
  priority: 'normal',
  progress: 0,
  project: 'default',
  sequence: 1,
  status: 'todo',
  task_id: 'T-0002',
  title: 'Strict parser 🐦',
  updated_at: '2026-04-08T22:15:30.123Z',
  updated_by: 'agent',
  workflow: 'board',
};

const WRONG_TASKS: Readonly<Record<string, readonly unknown[]>> = {
  assignee: [null, 7],
  attempt: [0, 1.5, '1', null],
  blocked_reason: ['tired', ''],
  created_at: ['', 'yesterday', null],
  created_by: [null, 7],
  depends_on: [null, 'T-0001', ['T-042'], ['T-0001', 'T-0001'], Array.from({ length: 51 }, (_, n) => `T-${n + 1000}`)],
  description: [null, 'x'.repeat(8001), '🐦'.repeat(8001), 'a\u0000', 'a\u009f', '\u007f'],
  estimate_hours: [-0.1, 1000.1, '1'],
  labels: [null, [''], ['a', 'a'], ['a\n'], ['x'.repeat(65)], Array.from({ length: 21 }, String)],
  parent_id: ['', 'T-042', 2],
  priority: ['urgent', 1, null],
  progress: [-1, 101, -0.5, 100.5, null],
  project: ['', 'A', 'a/b', 'x'.repeat(65), null],
  sequence: [0, -1, null],
  status: ['INIT', 'doing', null, 'blocked'],
  task_id: ['T-0000', 'A-0001', null],
  title: ['', ' ', '\u00a0\u3000', 'a\nb', 'x'.repeat(257), '🐦'.repeat(257), null],
  updated_at: ['2026-04-08'],
  updated_by: [7],
  workflow: ['kanban', 'pipeline', 'toString', null],
};

describe('the grammar of a recorded task', () => {
  it('matches the table of fields, for a verifier without a ledger', () => {
    const { grammar } = taskFields;
    expect(Object.keys(TASK_GRAMMAR)).toEqual(Object.keys(grammar));
    for (const [field, form] of Object.entries(TASK_GRAMMAR)) {
      const derived = grammar[field];
      expect(derived?.optional, field).toBe(form.optional);
      expect(derived?.isFreeText, field).toBe(form.isFreeText);
      if (form.optional === undefined) expect(derived?.says, field).toBe(form.says);
      for (const value of [...(WRONG_TASKS[field] ?? []), TASK[field as keyof typeof TASK], null, 'text', ''])
        expect(derived?.holds(value), `${field} ${String(value)}`).toBe(form.holds(value));
    }
  });

  it('accepts a task', () => {
    for (const changes of [
      {},
      { title: '🐦'.repeat(256), description: '🐦'.repeat(8000), labels: ['🐦'.repeat(64)] },
      { status: 'blocked', blocked_reason: 'the owner is away' },
      { workflow: 'pipeline', status: 'DONE', attempt: 3, parent_id: 'T-0001', estimate_hours: null },
    ])
      expect(taskDefect(canonicalize({ ...TASK, ...changes }))).toBeUndefined();
  });

  for (const [field, values] of Object.entries(WRONG_TASKS))
    it(`refuses a task with an invalid ${field}`, () => {
      for (const value of values)
        expect(taskDefect(canonicalize({ ...TASK, [field]: value })), String(value)).toBeDefined();
      const { [field as keyof typeof TASK]: _gone, ...rest } = TASK;
      expect(taskDefect(canonicalize(rest))).toContain(field);
    });

  it('refuses other values and texts that are not canonical', () => {
    const text = canonicalize(TASK);
    for (const other of [
      '',
      '7',
      '[]',
      'null',
      `${text} `,
      text.replace(':', ': '),
      text.replace('"priority"', '"Priority"'),
    ])
      expect(taskDefect(other)).toBeDefined();
    expect(taskDefect(canonicalize({ ...TASK, note: null }))).toMatch(/unknown field "note"/);
  });
});

/**
 * Fields with a text that stays after a redaction: names of actors and a state, on which the rules between entries
 * rest.
 */
const NAMES = new Set(['assignee', 'created_by', 'holder', 'status', 'taken_from', 'updated_by']);
const SECRET = 'the customer is Example Ltd.';
const NOTE = '[redacted by person:ada on 2026-04-08]';

describe('a redacted task', () => {
  for (const [field, { type }] of Object.entries(TASK_FIELDS)) {
    const value = [SECRET, [SECRET]].find((candidate) => type.form.holds(candidate));
    if (value === undefined) continue;
    promiseTest('redact/gone', `${NAMES.has(field) ? 'keeps the name' : 'loses the text'} in ${field}`, () => {
      const content = canonicalize({ ...TASK, [field]: value });
      const remains = withoutText(content, NOTE);
      expect(remains.includes(SECRET)).toBe(NAMES.has(field));
      expect(isWithoutText(content, NOTE)).toBe(false);
      expect(isWithoutText(remains, NOTE)).toBe(true);
      expect(taskFields.freeText.some(({ name }) => name === field)).toBe(!NAMES.has(field));
    });
  }

  it('keeps what says that a text was empty', () => {
    const bare = { ...TASK, description: '', blocked_reason: null };
    expect(JSON.parse(withoutText(canonicalize(bare), NOTE))).toEqual({ ...bare, title: NOTE, labels: [] });
  });
});
