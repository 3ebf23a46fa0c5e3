import type { CheckpointScheduler, SigningState } from '../checkpoints/scheduler.ts';
import { type Database, DatabaseError, type DatabaseFault, type Reader } from '../db/database.ts';
import type { SkillRegistry } from '../domains/skills/repository.ts';
import { ColibriError, toError } from '../errors.ts';
import type { FifoLock } from '../fifo-lock.ts';
import type { AuditSink, CallerNames, FoundActor, RecordedTransactions } from '../middleware/audit.ts';
import { DeferredAudit } from '../middleware/sinks/deferred.ts';
import type { Mode } from '../modes.ts';
import type { Asked } from '../witnesses/ask.ts';
import type { BackgroundWitnesses } from '../witnesses/background.ts';

export type Phase = 'starting' | 'ready' | 'failed' | 'stopped';

/** The parts that `boot` opens. */
export interface Booted {
  readonly audit: AuditSink;
  /** For tools that write; without it they run without a transaction. */
  readonly transactions?: RecordedTransactions | undefined;
  readonly database?: Database | undefined;
  readonly skills?: SkillRegistry | undefined;
  /** Without it, calls are recorded under the names of their clients. */
  readonly callers?: CallerNames | undefined;
  readonly background?: Background | undefined;
  readonly checkpoints?: CheckpointScheduler | undefined;
  readonly witnesses?: BackgroundWitnesses | undefined;
  /** Set if the server must not write: it serves reads and says why. */
  readonly rollback?: Error | undefined;
}

/** What uses the database beside the calls. */
interface Background {
  /** Resolves when the events that clients reported so far are in the ledger; false if not all are. Never rejects. */
  settle(isWhole: boolean): Promise<boolean>;
  stop(): Promise<void>;
}

export interface RuntimeOptions {
  readonly mode: Mode;
  /** ISO-8601 UTC with milliseconds. */
  readonly now: () => string;
  /** Records calls after a failed boot. */
  readonly fallbackAudit: AuditSink;
}

/** Faults that can clear without a restart. */
const TRANSIENT_FAULTS: ReadonlySet<DatabaseFault> = new Set([
  'busy',
  'full',
  'readonly',
  'unavailable',
  'lost',
  'unknown',
  'unsynced',
]);

/** Its answer is what people show to others, so it is signed at once. */
const SEALING_TOOL = 'merkle_finalize';

const FIRST_RETRY_MS = 500;
/** Short enough to notice soon that a database is back, long enough not to load one that is not. */
const MAX_RETRY_MS = 30_000;

/** The state of a running server, and the gate where calls wait until it has booted. */
export class Runtime {
  readonly now: () => string;
  readonly #configuredMode: Mode;
  readonly #fallbackAudit: AuditSink;
  /** Buffers the calls that are answered before the ledger is open. */
  readonly #early = new DeferredAudit();
  readonly #gate: Promise<void>;
  #openGate: () => void = () => undefined;
  #phase: Phase = 'starting';
  #booted: Booted | undefined;
  #failure: Error | undefined;
  #damage: Error | undefined;
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
    if (this.#failure !== undefined) return 'MINIMAL';
    return this.rollback === undefined ? this.#configuredMode : 'READONLY';
  }

  /** Why the server serves reads only: the log does not extend what was signed before. */
  get rollback(): Error | undefined {
    return this.#booted?.rollback ?? this.#booted?.checkpoints?.rollback;
  }

  get checkpoint(): string | undefined {
    return this.#booted?.checkpoints?.newest;
  }

  get signing(): SigningState | undefined {
    return this.#booted?.checkpoints?.state;
  }

  /** Why the key of this user does not sign. */
  get signingFault(): Error | undefined {
    return this.#booted?.checkpoints?.fault;
  }

  /** What the witnesses of the user answered last; undefined if none was asked. */
  get witnesses(): readonly Asked[] | undefined {
    return this.#booted?.witnesses?.latest;
  }

  /** Rejects if this server signs nothing. */
  async signCheckpoint(): Promise<string> {
    return this.#requireScheduler().sign();
  }

  /** Wraps a proof under a checkpoint of `signCheckpoint` into an envelope that the same key signs. */
  readonly wrapProof: CheckpointScheduler['wrap'] = (format, proof) => this.#requireScheduler().wrap(format, proof);

  #requireScheduler(): CheckpointScheduler {
    if (this.rollback !== undefined) throw this.rollback;
    const checkpoints = this.#booted?.checkpoints;
    if (checkpoints === undefined) throw new ColibriError('ERR_CONFIG_INVALID', `${this.mode} mode signs nothing`);
    return checkpoints;
  }

  /** Set while changes fail because the file is damaged: reads, and calls that change little, may still work. */
  get damage(): Error | undefined {
    return this.#damage;
  }

  notCommitted(error: Error): void {
    if (error instanceof DatabaseError && error.fault === 'corrupt') this.#damage = error;
  }

  committed(tool: string, size: number): void {
    this.#damage = undefined;
    this.#booted?.checkpoints?.grown(size, tool === SEALING_TOOL);
  }

  /** The mode from the configuration; a failed boot does not change it. */
  get configuredMode(): Mode {
    return this.#configuredMode;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** True after a failed boot that will be retried. */
  get isRetrying(): boolean {
    return this.#failure instanceof DatabaseError && TRANSIENT_FAULTS.has(this.#failure.fault);
  }

  get database(): Database | undefined {
    return this.#booted?.database;
  }

  get transactions(): RecordedTransactions | undefined {
    return this.#booted?.transactions;
  }

  get skills(): SkillRegistry | undefined {
    return this.#booted?.skills;
  }

  actorOf(client: string): string {
    return this.#booted?.callers?.actorOf(client) ?? client;
  }

  async findActor(db: Reader, client: string): Promise<FoundActor> {
    return (await this.#booted?.callers?.findActor(db, client)) ?? { actor: client, isUnconfirmed: false };
  }

  lastCallOf(actor: string): number | undefined {
    return this.#booted?.callers?.lastCallOf(actor);
  }

  firstCallOf(actor: string): number | undefined {
    return this.#booted?.callers?.firstCallOf(actor);
  }

  async settle(isWhole: boolean): Promise<boolean> {
    return (await this.#booted?.background?.settle(isWhole)) ?? true;
  }

  get audit(): AuditSink {
    return this.#booted?.audit ?? this.#early;
  }

  /**
   * Resolves once the boot has ended; at once for an early call, unless too many of those are buffered. Not async: once
   * the gate is open, every call passes after the same number of microtasks, and none overtakes another.
   */
  passGate(isEarly: boolean): Promise<void> {
    return isEarly && !this.#early.isFull ? Promise.resolve() : this.#gate;
  }

  /**
   * Boots and calls `report` when done. After a failure the server stays up in MINIMAL mode; a transient fault is
   * retried with exponential backoff.
   */
  boot(lock: FifoLock, boot: () => Promise<Booted>, report: () => void): Promise<void> {
    this.#booting = this.#boot(lock, boot).then(() => {
      report();
      if (!this.isRetrying || this.#isClosing) return;
      // Unreferenced: the retry alone must not keep the process alive.
      this.#retryTimer = setTimeout(() => void this.boot(lock, boot, report), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    });
    return this.#booting;
  }

  async #boot(lock: FifoLock, boot: () => Promise<Booted>): Promise<void> {
    try {
      await this.#switchTo(lock, await boot());
    } catch (thrown) {
      await this.#switchTo(lock, { audit: this.#fallbackAudit }, toError(thrown));
    } finally {
      this.#openGate();
    }
  }

  /** Under the lock, so that no call is admitted before the switch and recorded after it. */
  async #switchTo(lock: FifoLock, booted: Booted, failure?: Error): Promise<void> {
    await lock.run(async () => {
      try {
        await this.#early.replay(booted.audit);
      } catch (error) {
        await close(booted);
        throw error;
      }
      this.#booted = booted;
      this.#failure = failure;
      this.#phase = failure === undefined ? 'ready' : 'failed';
    });
  }

  /** Waits for a boot that still runs: the database it opens would otherwise stay open. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retryTimer);
    await this.#booting;
    this.#phase = 'stopped';
    if (this.#booted !== undefined) await close(this.#booted);
  }
}

/** In this order: what runs in the background uses the database. */
async function close({ background, database }: Booted): Promise<void> {
  await background?.stop();
  await database?.close();
}
