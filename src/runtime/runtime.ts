import { type Database, DatabaseError, type DatabaseFault } from '../db/database.ts';
import type { SkillRegistry } from '../domains/skills/repository.ts';
import { toError } from '../errors.ts';
import type { FifoLock } from '../fifo-lock.ts';
import type { Log } from '../log.ts';
import type { AuditSink } from '../middleware/audit.ts';
import { DeferredAudit } from '../middleware/deferred-audit.ts';
import type { Mode } from '../modes.ts';

export type Phase = 'starting' | 'ready' | 'failed' | 'stopped';

/** What the second phase of the boot brings: where calls are recorded, and the database if the mode has one. */
export interface Booted {
  readonly audit: AuditSink;
  readonly database?: Database;
  readonly skills?: SkillRegistry;
}

export interface RuntimeOptions {
  readonly mode: Mode;
  /** ISO-8601 UTC with milliseconds. */
  readonly now: () => string;
  /** Where calls are recorded when the second phase failed. */
  readonly fallbackAudit: AuditSink;
}

/** What may pass, or be mended by somebody, while this server runs. */
const PASSING: ReadonlySet<DatabaseFault> = new Set([
  'busy',
  'full',
  'readonly',
  'unavailable',
  'lost',
  'unknown',
  'unsynced',
]);

const FIRST_RETRY_MS = 500;
/** A database that comes back after hours is noticed soon; one that never does is hardly bothered. */
const MAX_RETRY_MS = 30_000;

/** Everything about a running server that changes while it runs. */
export class Runtime {
  readonly now: () => string;
  readonly #configuredMode: Mode;
  readonly #fallbackAudit: AuditSink;
  /** Calls that do not wait for the ledger are recorded in it as soon as it is open. */
  readonly #early = new DeferredAudit();
  readonly #gate: Promise<void>;
  #openGate: () => void = () => undefined;
  #phase: Phase = 'starting';
  #booted: Booted | undefined;
  #failure: Error | undefined;
  #booting: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosing = false;

  constructor({ mode, now, fallbackAudit }: RuntimeOptions) {
    this.now = now;
    this.#configuredMode = mode;
    this.#fallbackAudit = fallbackAudit;
    this.#gate = new Promise((open) => {
      this.#openGate = open;
    });
  }

  get mode(): Mode {
    return this.#failure === undefined ? this.#configuredMode : 'MINIMAL';
  }

  /** What the owner asked for, which a failed boot does not change. */
  get configuredMode(): Mode {
    return this.#configuredMode;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** True while the ledger is not open and may still be. */
  get isRetrying(): boolean {
    return this.#failure instanceof DatabaseError && PASSING.has(this.#failure.fault);
  }

  get database(): Database | undefined {
    return this.#booted?.database;
  }

  get skills(): SkillRegistry | undefined {
    return this.#booted?.skills;
  }

  get audit(): AuditSink {
    return this.#booted?.audit ?? this.#early;
  }

  /** The gate: most calls wait for the second phase, and so do early ones when too many have piled up. */
  async admit(isEarly: boolean): Promise<void> {
    if (!isEarly || this.#early.isFull) await this.#gate;
  }

  /**
   * Runs the second phase; `report` hears how it ended. A failure leaves the server up, in MINIMAL mode, telling why; one
   * that may pass is followed by another try, and another, less and less often.
   */
  boot(lock: FifoLock, boot: () => Promise<Booted>, report: () => void): Promise<void> {
    this.#booting = this.#boot(lock, boot).then(() => {
      report();
      if (!this.isRetrying || this.#isClosing) return;
      // A process that has nothing else to do may end.
      this.#retryTimer = setTimeout(() => void this.boot(lock, boot, report), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    });
    return this.#booting;
  }

  async #boot(lock: FifoLock, boot: () => Promise<Booted>): Promise<void> {
    try {
      await this.#takeOver(lock, await boot());
    } catch (thrown) {
      await this.#takeOver(lock, { audit: this.#fallbackAudit }, toError(thrown));
    } finally {
      this.#openGate();
    }
  }

  /** In turn with the calls, so that none is admitted or recorded half here and half there. */
  async #takeOver(lock: FifoLock, booted: Booted, failure?: Error): Promise<void> {
    await lock.run(async () => {
      try {
        await this.#early.replay(booted.audit);
      } catch (error) {
        await booted.database?.close();
        throw error;
      }
      this.#booted = booted;
      this.#failure = failure;
      this.#phase = failure === undefined ? 'ready' : 'failed';
    });
  }

  /** Waits for a second phase that still runs: the database it opens would otherwise stay open. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retryTimer);
    await this.#booting;
    this.#phase = 'stopped';
    await this.database?.close();
  }
}

let hasGlobalHandlers = false;

/** Once in a process, however many servers it starts. */
export function installGlobalHandlers(log: Log): void {
  if (hasGlobalHandlers) return;
  hasGlobalHandlers = true;
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      log('error', event, { error });
      process.exit(1);
    });
  }
}

/** Some clients kill a server that takes longer. */
const SHUTDOWN_MS = 4500;

/** Returns what to call when the client is gone; the signals call it too. The exit code is asked for at the end. */
export function createShutdown(log: Log, stop: () => Promise<void>): (reason: string, exitCode?: () => number) => void {
  let isStopping = false;
  const shutDown = (reason: string, exitCode = () => 0): void => {
    if (isStopping) return;
    isStopping = true;
    log('info', 'stopping', { reason });
    // A call that cannot end in time stays open in the log; the next server closes it as interrupted.
    setTimeout(() => process.exit(exitCode()), SHUTDOWN_MS);
    stop().then(
      () => process.exit(exitCode()),
      (error: unknown) => {
        log('error', 'stop failed', { error });
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => shutDown(signal));
  return shutDown;
}
