import { describe, expect, it } from 'vitest';
import { canonicalize } from '../canonical-json.ts';
import { type DigestLabel, type Entry, storedDigest } from '../entry.ts';
import { disclosedDefect } from './disclosed.ts';

const SALT = '0123456789abcdef0123456789abcdef';
const AT = '2026-11-16T12:00:00.000Z';
const TASK = {
  assignee: 'alice',
  attempt: 1,
  blocked_reason: null,
  created_at: AT,
  created_by: 'alice',
  depends_on: [],
  description: '',
  estimate_hours: null,
  labels: [],
  parent_id: null,
  priority: 'normal',
  progress: 0,
  project: 'default',
  sequence: 1,
  status: 'todo',
  task_id: 'T-0001',
  title: 'one',
  updated_at: AT,
  updated_by: 'alice',
  workflow: 'board',
};

/** An entry with the digest of any text, as the owner of the key can make one. */
function entryOf(kind: string, field: string, label: DigestLabel, text: string): Entry {
  const digest = storedDigest(label, SALT, text);
  return { v: 1, kind, at: AT, actor: 'alice', task_id: 'T-0001', [field]: digest } as unknown as Entry;
}

const defectOf = (kind: string, field: string, label: DigestLabel, text: string) =>
  disclosedDefect(entryOf(kind, field, label, text), { salt: SALT, text });

describe('disclosed content with the right digest', () => {
  it('accepts content that a server could have written', () => {
    expect(defectOf('task.created', 'task', 'task', canonicalize(TASK))).toBeUndefined();
    expect(defectOf('task.updated', 'task', 'task', canonicalize({ ...TASK, holder: 'bob' }))).toBeUndefined();
    expect(defectOf('action.enter', 'arguments', 'arguments', '{}')).toBeUndefined();
  });

  it.each([
    ['no JSON', 'text'],
    ['text that is not canonical', `${canonicalize(TASK)} `],
    ['a key twice', canonicalize(TASK).replace('"attempt":1', '"attempt":1,"attempt":1')],
    ['a missing field', canonicalize(TASK).replace('"title":"one",', '')],
    ['an unknown field', canonicalize({ ...TASK, verdict: 'approved' })],
    ['a state of another workflow', canonicalize({ ...TASK, status: 'DONE' })],
    ['a reason and no block', canonicalize({ ...TASK, blocked_reason: 'tired' })],
    ['a title over two lines', canonicalize({ ...TASK, title: 'a\nb' })],
    ['another task', canonicalize({ ...TASK, task_id: 'T-0002' })],
    ['another time', canonicalize({ ...TASK, updated_at: '2026-11-16T12:00:00.001Z' })],
    ['another actor', canonicalize({ ...TASK, updated_by: 'bob' })],
  ])('is refused as a task with %s', (_, text) => {
    for (const kind of ['task.created', 'task.updated'])
      expect(defectOf(kind, 'task', 'task', text)).toContain('discloses content that');
  });

  it.each<[kind: string, field: string, label: DigestLabel, text: string]>([
    ['action.enter', 'arguments', 'arguments', '[]'],
    ['session.started', 'session', 'session', '{"auditor_id":7,"reason":null}'],
    ['project.options', 'options', 'options', '{"project":"default","review":"maybe"}'],
    ['observed', 'content', 'observed-content', '{"exit_code":"0"}'],
    ['observed.commit', 'content', 'observed-content', '{}'],
  ])('is refused in a %s', (kind, field, label, text) => {
    expect(defectOf(kind, field, label, text)).toContain('discloses content that');
  });

  it('refuses content in an entry whose kind has none', () => {
    expect(defectOf('session.finalized', 'root', 'task', '{}')).toContain('its kind does not have');
  });
});
