import type { Problem } from '../../verification/report.ts';
import { plural } from './terminal.ts';

/** "3 problems, the first at entry 7: its hash differs" */
export function describeProblems(problems: readonly Problem[]): string {
  const [first] = problems;
  return `${plural(problems.length, 'problem')}, the first at ${first?.place}: ${first?.problem}`;
}

/** "whole: 1024 entries, root 9f2c…" */
export function describeWhole(size: number, root: string): string {
  return `whole: ${countEntries(size)}, root ${root}`;
}

/** Without separators, because people copy the size into `verify --expect`. */
export function countEntries(size: number): string {
  return `${size} ${size === 1 ? 'entry' : 'entries'}`;
}
