import { CUT_ARGUMENTS_LENGTH, canonicalize, MAX_ARGUMENTS_LENGTH, NotCanonical, sha256 } from '../integrity/index.ts';
import type { Call } from './call.ts';

export interface RecordedArguments {
  readonly text: string;
  /** Why the input cannot be recorded as it is; validation rejects the call for it. */
  readonly defect?: Pick<NotCanonical, 'path' | 'reason'>;
}

/** Every call is recorded, so even an input without canonical JSON gets a text. */
export function recordArguments(call: Pick<Call, 'rawInput' | 'force' | 'defect'>): RecordedArguments {
  const { rawInput, force, defect = isObject(rawInput) ? undefined : 'arguments must be an object' } = call;
  if (defect !== undefined) return { text: recordRefused(defect, rawInput), defect: { path: [], reason: defect } };
  try {
    const raw = force === undefined ? rawInput : { ...(rawInput as object), force };
    return { text: truncate(canonicalize(raw)) };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    // The message contains the path, and a key on the path can itself be ill-formed.
    return { text: truncate(canonicalize({ refused: error.message.toWellFormed() })), defect: error };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An entry holds an object, so that what was sent is recorded inside one. */
function recordRefused(refused: string, sent: unknown): string {
  try {
    return truncate(canonicalize({ refused, sent }));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return canonicalize({ refused });
  }
}

function truncate(text: string): string {
  if (text.length <= MAX_ARGUMENTS_LENGTH) return text;
  const start = text.slice(0, CUT_ARGUMENTS_LENGTH).toWellFormed();
  return canonicalize({ cut: true, length: text.length, sha256: sha256(text), start });
}
