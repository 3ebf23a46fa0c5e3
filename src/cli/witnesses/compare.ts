import { existsSync } from 'node:fs';
import {
  BadFormat,
  type Extension,
  judgeExtension,
  parseChain,
  parseVerifierKey,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '../../integrity/index.ts';
import { CommandError, type CommandResult, type Verdict } from '../support/command-result.ts';
import { readLimited } from '../support/limited-file.ts';

/** The suffix of the file beside a committed checkpoint that proves that it extends those before it. */
export const PROOF_SUFFIX = '.proof';

const STDIN = '-';
const MAX_BYTES = 1_000_000;
const VERDICTS: Readonly<Record<Extension['state'], Verdict>> = {
  extends: 'whole',
  contradicts: 'differs',
  unproven: 'cannot tell',
};

/** Proves without a ledger that a committed checkpoint extends an earlier one: what CI has is the repository alone. */
export function compareCommitted(oldFile: string, file: string, keys: readonly string[]): CommandResult {
  if (keys.length === 0)
    throw new CommandError('bad input', 'a signature proves nothing without a key that you trust', {
      advice: 'pass --key KEY: the output of colibri key where the ledger is',
    });
  const old = verify(readCheckpointFile(oldFile), oldFile, keys);
  const next = verify(readCheckpointFile(file), file, keys);
  const { state, says } = judgeExtension(old, next, readChain(file));
  const advice = state === 'unproven' ? ['Run colibri checkpoint --write where the ledger is, and commit again.'] : [];
  const facts = { state, says, size: next.size, root: next.root, signed_size: old.size, signed_root: old.root };
  return { verdict: VERDICTS[state], lines: [says, ...advice], facts };
}

/** `-`: standard input, such as the output of git show. */
export function readCheckpointFile(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readLimited(file === STDIN ? 0 : file, MAX_BYTES);
  } catch (error) {
    throw new CommandError('bad input', `${file} cannot be read`, { cause: error });
  }
  if (bytes.length > MAX_BYTES) throw new CommandError('bad input', `${file} is larger than ${MAX_BYTES} bytes`);
  return bytes.toString('utf8');
}

export function verify(text: string, file: string, keys: readonly string[]): VerifiedCheckpoint {
  try {
    return verifyCheckpoint(text, { log: keys.map(parseVerifierKey) });
  } catch (error) {
    if (error instanceof BadFormat) throw new CommandError('bad input', `${file}: ${error.message}`);
    throw error;
  }
}

function readChain(file: string) {
  const path = `${file}${PROOF_SUFFIX}`;
  if (!existsSync(path)) return [];
  const text = readCheckpointFile(path);
  try {
    return parseChain(text);
  } catch (error) {
    if (error instanceof BadFormat) throw new CommandError('bad input', `${path}: ${error.message}`);
    throw error;
  }
}
