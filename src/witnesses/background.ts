import type { Database } from '../db/database.ts';
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Asked, askWitnesses } from './ask.ts';
import { listWitnesses } from './configured.ts';

const TIMEOUT_MS = 10_000;
/** Some clients kill a server that takes longer than five seconds to stop. */
const LAST_MS = 2000;

/**
 * Asks the witnesses of the user beside the calls of a server, after a checkpoint was signed. Without witnesses it
 * opens no connection. A failure is logged and shown by server_health; the next checkpoint asks again.
 */
export class BackgroundWitnesses {
  readonly #database: Database;
  readonly #ledgerId: string;
  readonly #log: Log;
  readonly #abort = new AbortController();
  #latest: readonly Asked[] | undefined;
  /** The newest checkpoint that was not submitted yet: older ones need no cosignature any more. */
  #waiting: string | undefined;
  #asking: Promise<void> | undefined;

  constructor(database: Database, ledgerId: string, log: Log) {
    this.#database = database;
    this.#ledgerId = ledgerId;
    this.#log = log;
  }

  /** What the witnesses answered last; undefined if none was asked. */
  get latest(): readonly Asked[] | undefined {
    return this.#latest;
  }

  /** Call it after a checkpoint was signed. Returns immediately. */
  signed(checkpoint: string): void {
    this.#waiting = checkpoint;
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
  }

  /** Gives running requests two seconds. */
  async stop(): Promise<void> {
    if (this.#asking === undefined) return;
    const timer = setTimeout(() => this.#abort.abort(), LAST_MS);
    await this.#asking;
    clearTimeout(timer);
  }

  async #askAll(): Promise<void> {
    for (let checkpoint = this.#next(); checkpoint !== undefined; checkpoint = this.#next()) {
      try {
        const witnesses = listWitnesses(this.#ledgerId);
        if (witnesses.length === 0) return;
        const [database, ledgerId, signal] = [this.#database, this.#ledgerId, this.#abort.signal];
        const asked = await askWitnesses(witnesses, { database, ledgerId, checkpoint, timeoutMs: TIMEOUT_MS, signal });
        this.#report(asked);
      } catch (thrown) {
        this.#log('warn', 'witnesses not asked', { error: toError(thrown) });
      }
    }
  }

  #next(): string | undefined {
    const next = this.#abort.signal.aborted ? undefined : this.#waiting;
    this.#waiting = undefined;
    return next;
  }

  #report(asked: readonly Asked[]): void {
    const before = new Set(this.#latest?.map(describe));
    for (const each of asked)
      if (each.state !== 'cosigned' && !before.has(describe(each)))
        this.#log('warn', 'witness gave no cosignature', { witness: each.name, problem: each.problem });
    this.#latest = asked;
  }
}

function describe(asked: Asked): string {
  return asked.state === 'cosigned' ? asked.name : `${asked.name} ${asked.problem}`;
}
