import { describe, expect, it } from 'vitest';
import { acceptAliases, acceptPatch } from './input-aliases.ts';
import { createInput, getInput, updateInput } from './schema.ts';

const acceptTaskAliases = acceptAliases(getInput);
const acceptProjectAliases = acceptAliases(createInput);
const acceptUpdate = acceptPatch(updateInput);

describe('input aliases', () => {
  it('renames an alias to the listed field', () => {
    expect(acceptTaskAliases({ id: 'T-0001' })).toEqual({ task_id: 'T-0001' });
    expect(acceptProjectAliases({ project_id: 'ours', title: 'x' })).toEqual({ project: 'ours', title: 'x' });
    expect(acceptUpdate({ id: 'T-0001', patch: { status: 'todo' } })).toEqual({ task_id: 'T-0001', status: 'todo' });
    expect(acceptUpdate({ task_id: 'T-0001', progress: 5, patch: { title: 'x' } })).toEqual({
      task_id: 'T-0001',
      progress: 5,
      title: 'x',
    });
  });

  it('keeps an alias beside the listed field, so that it is refused as unknown', () => {
    const both = { id: 'T-0001', task_id: 'T-0002', project: 'a', project_id: 'b' };
    expect(acceptTaskAliases(both)).toEqual(both);
    expect(acceptProjectAliases(both)).toEqual(both);
    const twice = { task_id: 'T-0001', title: 'a', patch: { title: 'b' } };
    expect(acceptUpdate(twice)).toEqual(twice);
  });

  it('does not rename a task id inside the patch', () => {
    for (const key of ['id', 'task_id']) {
      const sly = { patch: { [key]: 'T-0002', status: 'done' } };
      expect(acceptUpdate({ id: 'T-0001', ...sly })).toEqual({ task_id: 'T-0001', ...sly });
    }
  });

  it('renames aliases only for tools that list the field', () => {
    const patch = { patch: { title: 'x' } };
    expect(acceptTaskAliases(patch)).toEqual(patch);
    expect(acceptProjectAliases(patch)).toEqual(patch);
    expect(acceptProjectAliases({ id: 'T-0001' })).toEqual({ id: 'T-0001' });
  });

  it('returns values that are not objects unchanged', () => {
    for (const raw of [undefined, null, 'id', 7, ['id'], { patch: null }, { patch: ['x'] }, { patch: 'x' }]) {
      for (const accept of [acceptTaskAliases, acceptProjectAliases, acceptUpdate]) expect(accept(raw)).toEqual(raw);
    }
  });

  it('treat names of inherited properties as unknown keys', () => {
    expect(acceptUpdate({ id: 'T-0001', patch: { toString: 1 } })).toEqual({ task_id: 'T-0001', toString: 1 });
    const hostile: unknown = JSON.parse('{"id":"T-0001","patch":{"__proto__":{"status":"done"}}}');
    const accepted = acceptUpdate(hostile);
    expect(Object.keys(accepted as object).toSorted()).toEqual(['__proto__', 'task_id']);
    expect((accepted as { status?: unknown }).status).toBeUndefined();
  });
});
