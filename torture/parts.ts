import { BYTES } from './bytes/bytes.ts';
import { CONTENTION } from './contention.ts';
import { DAMAGE } from './disk/damage.ts';
import { DISK } from './disk/faults.ts';
import { POWER } from './disk/power-loss.ts';
import { LOAD } from './load/load.ts';
import { SCALE } from './load/scale.ts';
import type { Part } from './part.ts';
import { PROCESSES } from './processes/processes.ts';
import { TESTS } from './tests.ts';

/** In the order in which they run. */
export const PARTS: readonly Part[] = [PROCESSES, CONTENTION, DISK, DAMAGE, POWER, BYTES, LOAD, SCALE, TESTS];
