import type { SqliteLibrary } from '../driver.ts';
import { isLocked, listPresenceFiles } from './presence.ts';

/** Beyond this many processes the delay between two attempts is at its maximum anyway. */
const MAX_COUNTED = 100;
/** A process that was killed leaves its file, and is counted this long. */
const PROBE_AGAIN_MS = 30_000;

/**
 * How many processes of this user have a database open, as far as the first files tell. To probe a process is to open
 * its file: done by every process for every other one each second, that would take much of two cores with 32 of
 * them. So they are probed when the files beside the database change, and once in a while.
 */
export class LiveCount {
  readonly #isLive: (path: string) => boolean;
  readonly #databasePath: string;
  readonly #nowMs: () => number;
  #probed: { readonly files: string; readonly live: number; readonly atMs: number } | undefined;

  constructor(sqlite: SqliteLibrary, databasePath: string, nowMs: () => number = () => performance.now()) {
    this.#isLive = (path) => isLocked(sqlite, path);
    this.#databasePath = databasePath;
    this.#nowMs = nowMs;
  }

  read(): number {
    const paths = listPresenceFiles(this.#databasePath, MAX_COUNTED);
    const [files, atMs] = [paths.join('\n'), this.#nowMs()];
    if (this.#probed?.files !== files || atMs - this.#probed.atMs > PROBE_AGAIN_MS)
      this.#probed = { files, live: paths.filter(this.#isLive).length, atMs };
    return this.#probed.live;
  }
}
