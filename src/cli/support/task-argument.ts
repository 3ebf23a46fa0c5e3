import { Argument, InvalidArgumentError } from 'commander';
import type { Reader } from '../../db/database.ts';
import { findLastTaskId } from '../../domains/tasks/board.ts';
import { ColibriError } from '../../errors.ts';
import { formatSessionId, formatTaskId } from '../../ids.ts';

export const TASK_ARGUMENT = new Argument('<task>', 'the id of the task: T-0042, t-42 or 42').argParser(parseTaskId);

export function parseTaskId(text: string): string {
  const digits = /^(?:t-?)?0*([1-9]\d{0,11})$/i.exec(text.trim())?.[1];
  if (digits === undefined) throw new InvalidArgumentError('Write the id of a task as T-0042, t-42 or 42.');
  return formatTaskId(Number(digits));
}

/** The id of a session: A-0007, a-7. Undefined for any other text. */
export function findSessionId(text: string): string | undefined {
  const digits = /^a-?0*([1-9]\d{0,11})$/i.exec(text)?.[1];
  return digits === undefined ? undefined : formatSessionId(Number(digits));
}

export async function taskNotFound(reader: Reader, taskId: string): Promise<ColibriError> {
  const last = await findLastTaskId(reader);
  const reason = last === undefined ? 'the ledger is empty' : `the last one is ${last}`;
  const options = last === undefined ? {} : { advice: 'run colibri board to see existing tasks' };
  return new ColibriError('ERR_NOT_FOUND', `no task ${taskId}: ${reason}`, { taskId }, options);
}
