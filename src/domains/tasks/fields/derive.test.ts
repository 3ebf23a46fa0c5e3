import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { objectDefect } from '../../../integrity/forms.ts';
import { withoutText } from '../../../integrity/index.ts';
import { newTask } from '../change.ts';
import { derive } from './derive.ts';
import { TASK_FIELDS } from './table.ts';
import { line, nullable } from './types.ts';

const AT = '2026-04-08T22:15:30.000Z';
const identity = {
  task_id: 'T-0042',
  sequence: 7,
  project: 'ours',
  workflow: 'board',
  at: AT,
  actor: 'alice',
} as const;
const released = derive(TASK_FIELDS);
const before = newTask({ title: 'a task', parent_id: 'T-0001', labels: ['a'], priority: 'high' }, identity);

/** A field added to a released product. */
const extended = derive({
  ...TASK_FIELDS,
  reviewer: { type: nullable(line(128)), initial: null, create: true, update: true, clearable: true, addedLater: true },
});
const after = { ...before, reviewer: 'bob' };

describe('a table of fields', () => {
  it('converts a task to columns and back without loss', () => {
    const row = released.toRow(before);
    expect(row).toMatchObject({ task_no: 42, parent_no: 1, priority: 2, labels: '["a"]', title: 'a task' });
    expect(released.fromRow(row)).toEqual(before);
    expect(released.fromContent(released.toContent(before))).toEqual(before);
  });

  it('builds records with their keys in the order in which they are hashed', () => {
    for (const record of [before, released.fromRow(released.toRow(before))])
      expect(Object.keys(record)).toEqual(Object.keys(TASK_FIELDS).sort());
  });

  it('reads rows of a selection under the names of the fields', () => {
    const selection = released.select(['task_id', 'priority', 'parent_id']);
    expect(selection.columns).toBe('task_no, priority, parent_no');
    expect(selection.read({ task_no: 42, priority: 0, parent_no: null })).toEqual({
      task_id: 'T-0042',
      priority: 'low',
      parent_id: null,
    });
  });
});

describe('a field that was added to the table', () => {
  it('derives the column, input and output of a field from one declaration', () => {
    expect(extended.toRow(after)).toEqual({ ...released.toRow(before), reviewer: 'bob' });
    expect(extended.fromRow(extended.toRow(after))).toEqual(after);
    for (const tool of ['create', 'update'] as const) {
      const input = z.object(extended.inputShape(tool)).partial();
      expect(input.parse({ reviewer: 'bob' })).toEqual({ reviewer: 'bob' });
      expect(input.safeParse({ reviewer: 'x'.repeat(129) }).success).toBe(false);
      expect(extended.given(tool, { reviewer: null })).toEqual({ reviewer: null });
    }
    expect(z.object(extended.outputShape(['reviewer'])).parse({ reviewer: 'bob' })).toEqual({ reviewer: 'bob' });
  });

  it('leaves contents that were recorded before it valid, with its initial value', () => {
    const content = released.toContent(before);
    expect(objectDefect(extended.grammar, JSON.parse(content))).toBeUndefined();
    expect(extended.fromContent(content)).toEqual({ ...before, reviewer: null });
  });

  it('omits a field from the content while it has its initial value', () => {
    expect(extended.toContent({ ...before, reviewer: null })).toBe(released.toContent(before));
    const content = JSON.parse(extended.toContent(after)) as object;
    expect(content).toEqual({ ...(JSON.parse(released.toContent(before)) as object), reviewer: 'bob' });
    expect(objectDefect(extended.grammar, content)).toBeUndefined();
    expect(objectDefect(extended.grammar, { ...content, reviewer: null })).toContain('reviewer');
    expect(objectDefect(extended.grammar, { ...content, reviewer: 7 })).toContain('reviewer');
  });

  it('omits the field when the task is redacted', () => {
    const content = extended.toContent(after);
    expect(extended.freeText).toContainEqual({ name: 'reviewer', column: 'reviewer' });
    expect(extended.fromContent(withoutText(content, 'note', extended.grammar))).toMatchObject({ reviewer: null });
    expect(withoutText(content, 'note', extended.grammar)).toBe(withoutText(released.toContent(before), 'note'));
  });
});
