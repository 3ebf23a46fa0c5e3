import { canonicalize } from '../canonical-json.ts';
import { saltedDigest } from '../entry.ts';
import type { ObservedRun } from './compare.ts';
import type { HiddenRun } from './observation.ts';

/** Maximum number of hashes per answer: a digest can only be compared with the digests of guesses. */
const MAX_GUESSES = 20_000;

/**
 * With digests alone, a command is known only if its tool takes nothing beside it, so that its input can be guessed.
 */
export function revealRuns(hiddenRuns: readonly HiddenRun[], commands: ReadonlySet<string>): ObservedRun[] {
  const inputs = [...commands].flatMap((command) =>
    ['command', 'cmd'].map((name) => ({ command, text: canonicalize({ [name]: command }) })),
  );
  const count = Math.min(hiddenRuns.length, Math.floor(MAX_GUESSES / Math.max(1, inputs.length)));
  return hiddenRuns.slice(hiddenRuns.length - count).flatMap(({ salt, input, ...run }) => {
    const found = inputs.find(({ text }) => saltedDigest('observed-input', salt, text) === input);
    return found === undefined ? [] : [{ ...run, command: found.command }];
  });
}
