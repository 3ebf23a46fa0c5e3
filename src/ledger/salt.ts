import { randomFillSync } from 'node:crypto';
import type { Salt } from '../integrity/index.ts';

const SALT_BYTES = 16;
/** Asking the system for randomness costs far more than the bytes themselves. */
const pool = Buffer.alloc(SALT_BYTES * 256);
let used = pool.length;

export function createSalt(): Salt {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += SALT_BYTES;
  return pool.toString('hex', used - SALT_BYTES, used);
}
