import * as z from 'zod';

/** Text inputs that several tools share. */

const hasNoControl = (text: string) => !/\p{Cc}/u.test(text);
/** Allows line breaks and tabs. */
const isProse = (text: string) => hasNoControl(text.replaceAll(/[\n\r\t]/g, ''));
/** Has at least one visible character; a zero-width space is not one. */
export const isVisible = (text: string) => /[^\s\p{Z}\p{Cf}]/u.test(text);
const CONTROL = 'contains a control character';

/** One line with at least one visible character. */
export function line(max: number) {
  return z
    .string()
    .min(1, 'is empty')
    .max(max, tooLong(max))
    .refine(hasNoControl, CONTROL)
    .refine((text) => text === '' || isVisible(text), 'is blank');
}

/** Any number of lines; may be empty. */
export function prose(max: number) {
  return z.string().max(max, tooLong(max)).refine(isProse, CONTROL);
}

/** For people too, who see it at the command line. */
function tooLong(max: number): string {
  return `has more than ${max} characters`;
}

const MAX_ID_LENGTH = 256;

/** Any non-empty text: an id of another shape is one that does not exist, which the tools report as not found. */
export const taskId = anyId();
export const sessionId = anyId();

/** A refinement, because tools/list would repeat `minLength` and `maxLength` for every id. */
function anyId() {
  const holds = (text: string) => text.length >= 1 && text.length <= MAX_ID_LENGTH;
  return z.string().refine(holds, `must have 1 to ${MAX_ID_LENGTH} characters`);
}
