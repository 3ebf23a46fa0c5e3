import * as z from 'zod';

/** How tasks, sessions and thoughts are named on the wire: a letter and a number with at least four digits. */

export const taskId = idSchema('T', 'task');
export const sessionId = idSchema('A', 'session');

export const formatTaskId = (taskNo: number | string): string => format('T', taskNo);
export const formatSessionId = (sessionNo: number | string): string => format('A', sessionNo);
export const formatThoughtId = (thoughtNo: number | string): string => format('Θ', thoughtNo);

export function parseId(id: string): number {
  return Number(id.slice(2));
}

function format(letter: string, number: number | string): string {
  return `${letter}-${String(number).padStart(4, '0')}`;
}

/** One spelling for each number, so that an id can be compared as text. */
function idSchema(letter: string, noun: string) {
  const pattern = new RegExp(`^${letter}-(?!0000$)(?:0\\d{3}|[1-9]\\d{3,11})$`);
  return z.string().refine((text) => pattern.test(text), `is not a ${noun} id such as ${letter}-0042`);
}
