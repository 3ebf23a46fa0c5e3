import * as z from 'zod';

/** Kinds of text that several tools take. */

const hasNoControl = (text: string) => !/\p{Cc}/u.test(text);
/** Line breaks and tabs belong to prose. */
const isProse = (text: string) => hasNoControl(text.replaceAll(/[\n\r\t]/g, ''));
/** Also without what a reader cannot see, such as a zero-width space. */
export const isVisible = (text: string) => /[^\s\p{Z}\p{Cf}]/u.test(text);
const CONTROL = 'contains a control character';

/** One line that says something. */
export function line(max: number) {
  return z.string().min(1).max(max).refine(hasNoControl, CONTROL).refine(isVisible, 'is blank');
}

/** Several lines, or none. */
export function prose(max: number) {
  return z.string().max(max).refine(isProse, CONTROL);
}
