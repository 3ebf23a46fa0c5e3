import * as z from 'zod';
import { isSessionId, isTaskId } from './integrity/index.ts';

/** Ids on the wire: a letter and a number of at least four digits. */

export const taskId = idSchema(isTaskId, 'T', 'task');
export const sessionId = idSchema(isSessionId, 'A', 'session');

export const formatTaskId = (taskNo: number | string): string => format('T', taskNo);
export const formatSessionId = (sessionNo: number | string): string => format('A', sessionNo);
export const formatThoughtId = (thoughtNo: number | string): string => format('Θ', thoughtNo);

/** The id of a stored number. Tampering can change its type; the result then equals no id. */
export function storedId(format: (number: number) => string, stored: unknown): string {
  return typeof stored === 'number' ? format(stored) : 'unreadable';
}

export function parseId(id: string): number {
  return Number(id.slice(2));
}

function format(letter: string, number: number | string): string {
  return `${letter}-${String(number).padStart(4, '0')}`;
}

function idSchema(isId: (text: string) => boolean, letter: string, noun: string) {
  return z.string().refine(isId, `is not a ${noun} id such as ${letter}-0042`);
}
