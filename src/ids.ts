import { isSessionId, isTaskId } from './integrity/index.ts';

/** Ids on the wire: a letter and a number of at least four digits. */

export const formatTaskId = (taskNo: number | string): string => format('T', taskNo);
export const formatSessionId = (sessionNo: number | string): string => format('A', sessionNo);
export const formatThoughtId = (thoughtNo: number | string): string => format('Θ', thoughtNo);

/** The id of a stored number. Tampering can change its type; the result then equals no id. */
export function storedId(format: (number: number) => string, stored: unknown): string {
  return typeof stored === 'number' ? format(stored) : 'unreadable';
}

/** The number of a task; 0, which no task has, for a text that is not the id of one. */
export function taskNumber(id: string): number {
  return isTaskId(id) ? parseId(id) : 0;
}

export function sessionNumber(id: string): number {
  return isSessionId(id) ? parseId(id) : 0;
}

/** The number of a well-formed id. */
export function parseId(id: string): number {
  return Number(id.slice(2));
}

function format(letter: string, number: number | string): string {
  return `${letter}-${idDigits(number)}`;
}

/** The number in an id. */
export function idDigits(number: number | string): string {
  const digits = String(number);
  return digits.length < MIN_DIGITS ? digits.padStart(MIN_DIGITS, '0') : digits;
}

const MIN_DIGITS = 4;
