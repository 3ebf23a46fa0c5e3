import { ColibriError, toError } from '../errors.ts';
import type { InclusionProof } from '../integrity/index.ts';
import type { Log } from '../log.ts';
import { type EnvelopeFormat, RetiredKey, type Signer } from './signer.ts';

/** A crash loses the statement about at most this many entries, not the entries. */
const ENTRIES_PER_CHECKPOINT = 1000;

/** `key` is absent before it is created, `checkpoint` before the first signature. */
export interface SigningState {
  readonly state: 'on' | 'off';
  readonly key?: string;
  readonly checkpoint?: string;
  readonly reason?: string;
}

/** Where a scheduler gets the key of its user from. */
export interface SignerSource {
  /** False if the user has no place for a key, or wants none. */
  readonly hasPlace: boolean;
  /** Returns undefined if there is no key yet; throws if there is one that must not be used. */
  readonly find: () => Signer | undefined;
  /** Creates the key if there is none yet. Undefined if there is no place for it. */
  readonly open: () => Signer | undefined;
}

/**
 * Signs checkpoints beside the calls of a server: after the first change of a log that has no checkpoint, when a
 * session was sealed, when the log has grown enough, and when the server stops. A failure is logged and shown by
 * server_health, and never fails a call.
 */
export class CheckpointScheduler {
  readonly #source: SignerSource;
  readonly #log: Log;
  #signer: Signer | undefined;
  #newest: string | undefined;
  /** Why the last signature failed; the next one may succeed. */
  #failure: Error | undefined;
  /** The size that the newest checkpoint covers, and the size of the log as far as this server has written it. */
  #signedSize: number;
  #size = 0;
  #signing: Promise<void> = Promise.resolve();

  /** Whether the first change of a log without a checkpoint is signed at once. A command leaves that to a server. */
  signsFirstChange = false;
  /** Called with each checkpoint after it was signed. */
  onSigned: ((checkpoint: string) => void) | undefined;

  /** The key is opened for the first signature, because that may create it. */
  constructor(source: SignerSource, log: Log, newest?: { readonly text: string; readonly size: number }) {
    this.#source = source;
    this.#log = log;
    this.#newest = newest?.text;
    this.#signedSize = newest?.size ?? 0;
  }

  /** The newest signed checkpoint. */
  get newest(): string | undefined {
    return this.#newest;
  }

  get state(): SigningState {
    const { signer, failure } = this.#examine();
    if (failure !== undefined) return { state: 'off', reason: failure.message };
    return {
      state: 'on',
      ...(signer !== undefined && { key: signer.verifierKey }),
      ...(this.#newest !== undefined && { checkpoint: this.#newest }),
    };
  }

  /** Set if the log was found not to extend what was signed. */
  get rollback(): Error | undefined {
    const isRollback = this.#failure instanceof ColibriError && this.#failure.code === 'ERR_LOG_ROLLBACK';
    return isRollback ? this.#failure : undefined;
  }

  /** Why a key that is there does not sign. A user without a key chose so, and a rollback has a name of its own. */
  get fault(): Error | undefined {
    const { failure } = this.#examine();
    return failure instanceof NoKey || this.rollback !== undefined ? undefined : failure;
  }

  /** Records that the log has grown to this size, and signs in the background if that is due. */
  grown(size: number, isSealed: boolean): void {
    this.#size = size;
    // The first checkpoint comes early: from then on receipts and sealed sessions name one.
    const isFirst = this.signsFirstChange && this.#signedSize === 0;
    if (isFirst || isSealed || size - this.#signedSize >= ENTRIES_PER_CHECKPOINT) this.#signLater();
  }

  /**
   * The same after a call that changed nothing, such as a refused one. It alone does not make its user sign a log for
   * the first time, which may create the key.
   */
  recorded(size: number): void {
    if (this.#newest !== undefined) this.grown(size, false);
  }

  /** Signs the log as it is now. */
  async sign(): Promise<string> {
    this.#signLater();
    await this.#signing;
    if (this.#failure === undefined && this.#newest !== undefined) return this.#newest;
    throw this.#failure ?? new ColibriError('ERR_CONFIG_INVALID', 'the log cannot be signed');
  }

  /** Wraps a proof under a checkpoint of `sign`, or of an earlier one by the same key. */
  wrap(format: EnvelopeFormat, proof: InclusionProof): Uint8Array {
    return this.#requireSigner().wrap(format, proof);
  }

  /** Signs what is not signed yet, and waits for it. */
  async stop(): Promise<void> {
    if (this.#size > this.#signedSize) this.#signLater();
    await this.settled();
  }

  /** Resolves when the signatures that were due are made. */
  async settled(): Promise<void> {
    await this.#signing;
  }

  /** Before the first signature, looks at the key without keeping it: another process may still replace it. */
  #examine(): { readonly signer?: Signer | undefined; readonly failure?: Error } {
    if (this.#failure !== undefined) return { failure: this.#failure };
    if (this.#signer !== undefined) return { signer: this.#signer };
    if (!this.#source.hasPlace) return { failure: new NoKey() };
    try {
      return { signer: this.#source.find() };
    } catch (thrown) {
      return { failure: toError(thrown) };
    }
  }

  #signLater(): void {
    // Set before signing starts, so that the next call does not sign the same size again.
    this.#signedSize = this.#size;
    this.#signing = this.#signing.then(() => this.#sign());
  }

  async #sign(): Promise<void> {
    try {
      this.#newest = await this.#signWithCurrentKey();
      this.#failure = undefined;
      this.onSigned?.(this.#newest);
    } catch (thrown) {
      const error = toError(thrown);
      // The key may have been replaced: the next signature reads it again.
      this.#signer = undefined;
      if (error.message !== this.#failure?.message) this.#log('warn', 'checkpoint not signed', { error });
      this.#failure = error;
    }
  }

  /** Another process may have rotated the key since this one read it. */
  async #signWithCurrentKey(): Promise<string> {
    const isKept = this.#signer !== undefined;
    try {
      return await this.#requireSigner().sign();
    } catch (error) {
      if (!isKept || !(error instanceof RetiredKey)) throw error;
      this.#signer = undefined;
      return this.#requireSigner().sign();
    }
  }

  #requireSigner(): Signer {
    this.#signer ??= this.#source.open();
    if (this.#signer === undefined) throw new NoKey();
    return this.#signer;
  }
}

class NoKey extends ColibriError {
  constructor() {
    super('ERR_CONFIG_INVALID', 'this user has no signing key', {}, { advice: 'set COLIBRI_KEY_PATH' });
  }
}
