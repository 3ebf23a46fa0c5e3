import { WORKFLOW_STATES } from '../../content-grammar.ts';
import { TASK_GRAMMAR } from '../task-grammar.ts';
import { compileObject, type EventFields, type FieldPattern, fieldOf } from './byte-grammar.ts';
import { equal, utf8 } from './bytes/utf8-bytes.ts';

/** The pattern of the content of a task. */
export const taskPattern = compileObject(TASK_GRAMMAR);

const TASK_ID = fieldOf(taskPattern, 'task_id');
const UPDATED_AT = fieldOf(taskPattern, 'updated_at');
const UPDATED_BY = fieldOf(taskPattern, 'updated_by');
const WORKFLOW = fieldOf(taskPattern, 'workflow');
const STATUS = fieldOf(taskPattern, 'status');
const BLOCKED_REASON = fieldOf(taskPattern, 'blocked_reason');

const BLOCKED = utf8('"blocked"');
const NULL = utf8('null');

/** The states of each workflow, as JSON. */
const STATES = Object.entries(WORKFLOW_STATES).map(([workflow, states]) => ({
  workflow: utf8(JSON.stringify(workflow)),
  states: states.map((state) => utf8(JSON.stringify(state))),
}));

/** The rules of `taskEventDefect` that no single field shows, for the task that `taskPattern` has read last. */
export function isOfTaskEvent(task: Uint8Array, event: EventFields): boolean {
  return (
    isSame(event.bytes, event.task_id, task, TASK_ID) &&
    isSame(event.bytes, event.at, task, UPDATED_AT) &&
    isSame(event.bytes, event.actor, task, UPDATED_BY) &&
    isState(task) &&
    is(task, STATUS, BLOCKED) !== is(task, BLOCKED_REASON, NULL)
  );
}

function isState(task: Uint8Array): boolean {
  for (const { workflow, states } of STATES)
    if (is(task, WORKFLOW, workflow)) return states.some((state) => is(task, STATUS, state));
  return false;
}

/** Canonical JSON has one text for each value. */
function isSame(left: Uint8Array, of: FieldPattern, right: Uint8Array, other: FieldPattern): boolean {
  return of.end - of.begin === other.end - other.begin && equal(left, of.begin, of.end, right, other.begin);
}

function is(bytes: Uint8Array, { begin, end }: FieldPattern, value: Uint8Array): boolean {
  return end - begin === value.length && equal(bytes, begin, end, value, 0);
}
