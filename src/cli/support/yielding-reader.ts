import { setImmediate } from 'node:timers/promises';
import { beforeEachStatement } from '../../db/before-each-statement.ts';
import type { Reader } from '../../db/database.ts';

/** SQLite blocks the event loop; yielding between two statements lets a long check receive signals. */
export function createYieldingReader(reader: Reader): Reader {
  return beforeEachStatement(reader, () => setImmediate());
}
