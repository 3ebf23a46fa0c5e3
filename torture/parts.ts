import type { Part } from './part.ts';
import { TESTS } from './tests.ts';

/** In the order in which they run. */
export const PARTS: readonly Part[] = [TESTS];
