import { WORKFLOW_STATES } from '../../content-grammar.ts';
import { TASK_GRAMMAR } from '../task-grammar.ts';
import { compileObject, type EventFields, type FieldPattern, fieldOf, type Pattern } from './byte-grammar.ts';
import { equal, utf8 } from './bytes/utf8-bytes.ts';

const NULL = utf8('null');

/** The pattern of the content of a task, and of it what the rules between fields are about. */
export interface TaskPattern {
  readonly pattern: Pattern;
  readonly task_id: FieldPattern;
  readonly updated_at: FieldPattern;
  readonly updated_by: FieldPattern;
  readonly workflow: Pattern;
  readonly status: Pattern;
  readonly blocked_reason: FieldPattern;
  /** Which states each workflow has, both in the order in which their patterns list them. */
  readonly states: readonly (readonly boolean[])[];
  /** The place of the state in which a task has a reason. */
  readonly blocked: number;
}

export function compileTask(): TaskPattern {
  const pattern = compileObject(TASK_GRAMMAR);
  const of = (name: string) => fieldOf(pattern, name);
  const [workflow, status] = [of('workflow').value, of('status').value];
  const states = valuesOf(workflow).map((name) => {
    const own: readonly unknown[] = WORKFLOW_STATES[name as keyof typeof WORKFLOW_STATES];
    return valuesOf(status).map((state) => own.includes(state));
  });
  return {
    pattern,
    task_id: of('task_id'),
    updated_at: of('updated_at'),
    updated_by: of('updated_by'),
    workflow,
    status,
    blocked_reason: of('blocked_reason'),
    states,
    blocked: valuesOf(status).indexOf('blocked'),
  };
}

/** The rules of `taskEventDefect` that no single field shows, for the task that the pattern has read last. */
export function isOfTaskEvent(task: Uint8Array, pattern: TaskPattern, event: EventFields): boolean {
  const { workflow, status, states, blocked } = pattern;
  return (
    isSame(event.bytes, event.task_id, task, pattern.task_id) &&
    isSame(event.bytes, event.at, task, pattern.updated_at) &&
    isSame(event.bytes, event.actor, task, pattern.updated_by) &&
    states[workflow.taken]?.[status.taken] === true &&
    (status.taken === blocked) !== isNull(task, pattern.blocked_reason)
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
