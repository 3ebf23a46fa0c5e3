import { CUT_ARGUMENTS_LENGTH, canonicalize, MAX_ARGUMENTS_LENGTH, NotCanonical, sha256 } from '../integrity/index.ts';
import type { Call } from './call.ts';

export interface RecordedArguments {
  readonly text: string;
  /** Why the input cannot be recorded as it is; validation rejects the call for it. */
  readonly defect?: NotCanonical;
}

/** Every call is recorded, so even an input without canonical JSON gets a text. */
export function recordArguments({ rawInput, force }: Pick<Call, 'rawInput' | 'force'>): RecordedArguments {
  try {
    const raw = force === undefined ? rawInput : { ...(rawInput as object), force };
    return { text: truncate(canonicalize(raw)) };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    // The message contains the path, and a key on the path can itself be ill-formed.
    return { text: truncate(canonicalize({ refused: error.message.toWellFormed() })), defect: error };
  }
}

function truncate(text: string): string {
  if (text.length <= MAX_ARGUMENTS_LENGTH) return text;
  const start = text.slice(0, CUT_ARGUMENTS_LENGTH).toWellFormed();
  return canonicalize({ cut: true, length: text.length, sha256: sha256(text), start });
}
