import type { Part } from './part.ts';
import { PROCESSES } from './processes/processes.ts';
import { TESTS } from './tests.ts';

/** In the order in which they run. */
export const PARTS: readonly Part[] = [PROCESSES, TESTS];
