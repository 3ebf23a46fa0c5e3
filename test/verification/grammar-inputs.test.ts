import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { changedTask, newTask } from '../../src/domains/tasks/change.ts';
import { type Task, taskFields } from '../../src/domains/tasks/record.ts';
import { createInput, type UpdateInput, updateInput } from '../../src/domains/tasks/schema.ts';
import { STATUSES } from '../../src/domains/tasks/workflows.ts';
import { extrasOf, sessionInput, thoughtInput } from '../../src/domains/trail/schema.ts';
import { ColibriError } from '../../src/errors.ts';
import { taskNumber } from '../../src/ids.ts';
import { extrasDefect, NotCanonical, sessionDefect, taskDefect, thoughtDefect } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { always } from '../support/properties.ts';

const AT = '2026-04-08T22:15:30.123Z';
const CREATED = { task_id: 'T-0009', sequence: 1, project: 'default', workflow: 'board', at: AT, actor: 'a' } as const;
const BASE = newTask({ title: 'Strict parser' }, CREATED);
const RUNS = 1500;

const CHARACTERS = ['a', '字', '\u{1f426}', '\u00e9', '\u0301', ' ', '\u00a0', '\u200b', '\n', '\u0085', '\ud800'];

/** About as long as a limit, of characters with one and with two code units; and anything. */
function texts(limit: number): fc.Arbitrary<string> {
  const lengths = fc.constantFrom(0, 1, Math.floor(limit / 2) + 1, limit - 1, limit, limit + 1);
  return fc.oneof(
    fc.tuple(fc.constantFrom(...CHARACTERS), lengths).map(([one, length]) => one.repeat(length)),
    fc.tuple(fc.constantFrom(...CHARACTERS), fc.string()).map(([one, end]) => one.repeat(limit - 1) + end),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
}

function lists<T>(item: fc.Arbitrary<T>, most: number): fc.Arbitrary<T[]> {
  const repeated = fc.tuple(item, fc.constantFrom(0, 2, most, most + 1));
  return fc.oneof(
    fc.array(item, { maxLength: 3 }),
    repeated.map(([one, length]) => Array.from({ length }, () => one)),
  );
}

function nested(depth: number): object {
  return depth === 0 ? {} : { a: nested(depth - 1) };
}

const numbers = fc.oneof(
  fc.constantFrom(0, -0, 0.1, 1e-7, 5e-324, 100, 1000, 1000.1, 1e21, -1, Number.NaN, Number.POSITIVE_INFINITY),
  fc.double({ min: 0, max: 1001 }),
  fc.integer({ min: -1, max: 101 }),
);
const ids = fc.constantFrom('T-0001', 'T-0002', 'T-12345', 'T-0000', 'T-00001', 'T-999999999999', 't-1', '');
const metadata = fc.oneof(
  fc.dictionary(texts(256), fc.jsonValue(), { maxKeys: 3 }),
  texts(16_384).map((text) => ({ text })),
  fc.integer({ min: 60, max: 66 }).map(nested),
  fc.constantFrom([], 7, { n: 1e21 }, { n: -0 }, { n: 2 ** 53 }, JSON.parse('{"__proto__":{"a":1}}') as unknown),
);

const TASK_FIELDS = {
  title: texts(256),
  description: texts(8000),
  parent_id: ids,
  depends_on: lists(ids, 50),
  priority: fc.constantFrom('low', 'normal', 'high', 'critical', 'urgent'),
  labels: lists(texts(64), 20),
  assignee: texts(128),
  estimate_hours: numbers,
};
const NEW_TASK_FIELDS = {
  ...TASK_FIELDS,
  project: fc.constantFrom('default', 'a.b', 'A', ''),
  workflow: fc.constantFrom('board', 'pipeline'),
};
const CHANGE_FIELDS = {
  ...TASK_FIELDS,
  status: fc.constantFrom(...STATUSES),
  progress: numbers,
  blocked_reason: texts(1000),
};
const THOUGHT_FIELDS = {
  type: fc.constantFrom('reflection', 'blockers', 'Risk'),
  content: texts(5000),
  branch: texts(256),
  commit_sha: fc.constantFrom('abcdef0', 'ABCDEF0\n', 'abcdef', '0'.repeat(64), '0'.repeat(65)),
  tests_run: lists(texts(512), 200),
  blockers: lists(texts(1000), 50),
  metadata,
};
const SESSION_FIELDS = { auditor_id: texts(128), reason: texts(1000) };

/** Up to three fields of any value, null and undefined among them, on an input that is taken. */
function inputs(valid: object, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  const odd = fc.constantFrom(null, undefined, '');
  const one = Object.entries(fields).map(([name, values]) =>
    fc.oneof({ weight: 9, arbitrary: values }, { weight: 1, arbitrary: odd }).map((value) => ({ [name]: value })),
  );
  return fc.array(fc.oneof(...one), { maxLength: 3 }).map((some) => Object.assign({}, valid, ...some) as object);
}

describe('what a tool takes', () => {
  promiseTest('verify/inputs', 'a new task', () =>
    holds(inputs({ title: 'a' }, NEW_TASK_FIELDS), (raw) => {
      const input = createInput.parse(raw);
      assertLinked(input);
      return taskDefect(taskFields.toContent(newTask(input, { ...CREATED, workflow: input.workflow ?? 'board' })));
    }),
  );

  promiseTest('verify/inputs', 'a change of a task', () =>
    holds(fc.tuple(inputs({ task_id: 'T-0009' }, CHANGE_FIELDS), fc.constantFrom(...STATUSES)), ([raw, status]) => {
      const workflow = status === status.toUpperCase() ? 'pipeline' : 'board';
      const before: Task = { ...BASE, workflow, status, blocked_reason: status === 'blocked' ? 'b' : null };
      const input = updateInput.parse(raw);
      assertLinked(input);
      return taskDefect(taskFields.toContent(changedTask(before, input, 'a', AT)));
    }),
  );

  promiseTest('verify/inputs', 'a thought', () =>
    holds(inputs({ task_id: 'T-0009', type: 'risk', content: 'a' }, THOUGHT_FIELDS), (raw) => {
      const input = thoughtInput.parse(raw);
      return thoughtDefect(input) ?? extrasDefect(extrasOf(input));
    }),
  );

  promiseTest('verify/inputs', 'a session', () =>
    holds(inputs({ task_id: 'T-0009', auditor_id: 'a' }, SESSION_FIELDS), (raw) => {
      const { auditor_id, reason = null } = sessionInput.parse(raw);
      return sessionDefect({ auditor_id, reason });
    }),
  );
});

/** The tools look linked tasks up and refuse those that do not exist. */
function assertLinked({ parent_id, depends_on = [] }: Pick<UpdateInput, 'parent_id' | 'depends_on'>): void {
  if ([parent_id ?? [], depends_on].flat().some((id) => taskNumber(id) === 0))
    throw new ColibriError('ERR_NOT_FOUND', 'no such task');
}

/** Every input is refused, or its content is of the grammar; a good part of both are seen. */
function holds<T>(arbitrary: fc.Arbitrary<T>, defectOf: (raw: T) => string | undefined): void {
  let taken = 0;
  const property = fc.property(arbitrary, (raw) => {
    try {
      const defect = defectOf(raw);
      taken += 1;
      return defect === undefined;
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof NotCanonical || error instanceof ColibriError) return true;
      throw error;
    }
  });
  always(property, RUNS);
  expect(taken).toBeGreaterThan(RUNS / 10);
  expect(taken).toBeLessThan(RUNS);
}
