import { BadFormat } from '../bad-format.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { formatWitnessRequest, isExtension, parseWitnessRequest, type WitnessRequest } from './witness-request.ts';

/**
 * What a reader without the ledger needs to repeat the checks of a witness: a sequence of C2SP tlog-witness requests.
 */

/** The relation between two checkpoints of one log, and the reason. */
export type Extension = { readonly state: 'extends' | 'contradicts' | 'unproven'; readonly says: string };

const MAX_STEPS = 1000;

export function formatChain(steps: readonly WitnessRequest[]): string {
  return steps.map(formatWitnessRequest).join('');
}

export function parseChain(text: string): WitnessRequest[] {
  const steps = text === '' ? [] : text.split(/^(?=old )/m);
  if (steps.length > MAX_STEPS) throw new BadFormat(`a chain has at most ${MAX_STEPS} steps`);
  return steps.map(parseWitnessRequest);
}

/**
 * Whether a log extends an earlier state of it. Both checkpoints must have been verified; the chain needs not to be.
 */
export function judgeExtension(old: Checkpoint, next: Checkpoint, chain: readonly WitnessRequest[]): Extension {
  const contradicts = (says: string): Extension => ({ state: 'contradicts', says });
  if (old.origin !== next.origin) return contradicts(`${next.origin} is another log than ${old.origin}`);
  if (old.size > next.size) return contradicts(`the log has ${next.size} entries and had ${old.size}`);
  if (old.size === next.size)
    return old.root === next.root
      ? { state: 'extends', says: `the log is the same, of ${next.size} entries` }
      : contradicts(`the log has another root at ${next.size} entries`);
  const path = chain.map((step) => ({ ...step, to: parseCheckpoint(step.checkpoint) }));
  const begin = path.findIndex(({ to }) => to.size === old.size);
  if (begin < 0) return { state: 'unproven', says: `no proof begins at ${old.size} entries` };
  let reached: Checkpoint = old;
  for (const { oldSize, proof, to } of path.slice(begin + 1)) {
    if (reached.size === next.size) break;
    if (oldSize !== reached.size || !isExtension(reached, proof, to))
      return contradicts(`the proof from ${reached.size} to ${to.size} entries does not hold`);
    reached = to;
  }
  if (reached.size !== next.size || reached.root !== next.root)
    return { state: 'unproven', says: `the proof ends at ${reached.size} of ${next.size} entries` };
  return { state: 'extends', says: `the log of ${next.size} entries extends the one of ${old.size}` };
}
