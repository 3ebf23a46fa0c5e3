import { ColibriError } from '../../errors.ts';
import type { Task } from './record.ts';
import { workflowOf } from './workflows.ts';

/** `done` requires a thought record that says why, since the task was created or last sent back. */
export function assertWrittenBack(task: Task, wantedStatus: string | undefined, hasReason: boolean): void {
  if (wantedStatus !== workflowOf(task.workflow).done || hasReason) return;
  const since = task.attempt === 1 ? 'since it was created' : `since it was sent back (attempt ${task.attempt})`;
  throw new ColibriError(
    'ERR_WRITEBACK_REQUIRED',
    `${task.task_id} has no thought record that says why, ${since}`,
    { taskId: task.task_id, missing_fields: ['thought_record'] },
    {
      advice: `call thought_record {"task_id":"${task.task_id}","type":"decision","content":"why it is done"} first (it needs a session: call audit_session_start to open one)`,
    },
  );
}
