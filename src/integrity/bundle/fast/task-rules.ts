import { WORKFLOW_STATES } from '../../content-grammar.ts';
import { TASK_GRAMMAR } from '../task-grammar.ts';
import { compileObject, type EventFields, type FieldPattern, fieldOf, type Pattern } from './byte-grammar.ts';
import { equal, utf8 } from './bytes/utf8-bytes.ts';

/** The pattern of the content of a task. */
export const taskPattern = compileObject(TASK_GRAMMAR);

const TASK_ID = fieldOf(taskPattern, 'task_id');
const UPDATED_AT = fieldOf(taskPattern, 'updated_at');
const UPDATED_BY = fieldOf(taskPattern, 'updated_by');
const { value: WORKFLOW } = fieldOf(taskPattern, 'workflow');
const { value: STATUS } = fieldOf(taskPattern, 'status');
const BLOCKED_REASON = fieldOf(taskPattern, 'blocked_reason');

const NULL = utf8('null');

/** Which states each workflow has, both in the order in which their patterns list them. */
const STATES = valuesOf(WORKFLOW).map((workflow) => {
  const states: readonly unknown[] = WORKFLOW_STATES[workflow as keyof typeof WORKFLOW_STATES];
  return valuesOf(STATUS).map((state) => states.includes(state));
});
const BLOCKED = valuesOf(STATUS).indexOf('blocked');

/** The rules of `taskEventDefect` that no single field shows, for the task that `taskPattern` has read last. */
export function isOfTaskEvent(task: Uint8Array, event: EventFields): boolean {
  return (
    isSame(event.bytes, event.task_id, task, TASK_ID) &&
    isSame(event.bytes, event.at, task, UPDATED_AT) &&
    isSame(event.bytes, event.actor, task, UPDATED_BY) &&
    STATES[WORKFLOW.taken]?.[STATUS.taken] === true &&
    (STATUS.taken === BLOCKED) !== isNull(task, BLOCKED_REASON)
  );
}

/** Canonical JSON has one text for each value. */
function isSame(left: Uint8Array, of: FieldPattern, right: Uint8Array, other: FieldPattern): boolean {
  return of.end - of.begin === other.end - other.begin && equal(left, of.begin, of.end, right, other.begin);
}

function isNull(bytes: Uint8Array, { begin, end }: FieldPattern): boolean {
  return end - begin === NULL.length && equal(bytes, begin, end, NULL, 0);
}

function valuesOf({ form: { shape } }: Pattern): readonly unknown[] {
  return shape?.is === 'literal' ? shape.values : [];
}
