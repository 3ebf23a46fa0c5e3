import * as fc from 'fast-check';
import { ENVELOPE_TARGETS } from './envelope-targets.ts';
import { FAST_BUNDLE_TARGETS } from './fast-bundle-targets.ts';
import { INPUT_TARGETS } from './input-targets.ts';
import { INVOCATION_TARGETS } from './invocation-targets.ts';
import { MESSAGES } from './message-target.ts';
import { type Mutated, mutated } from './mutations.ts';
import { PROOF_TARGETS } from './proof-targets.ts';
import type { FuzzTarget } from './target.ts';

/** Every parser that reads what others have written. */
export const TARGETS: readonly FuzzTarget[] = [
  ...PROOF_TARGETS,
  ...FAST_BUNDLE_TARGETS,
  ...ENVELOPE_TARGETS,
  ...INPUT_TARGETS,
  ...INVOCATION_TARGETS,
  MESSAGES,
];

export interface FuzzOptions {
  readonly seed: number;
  /** Inputs, divided among the targets. */
  readonly runs: number;
  /** The name of one target, which then gets all inputs. */
  readonly only?: string | undefined;
  readonly onTarget?: (result: TargetResult) => void;
  readonly targets?: readonly FuzzTarget[];
}

export interface TargetResult {
  readonly name: string;
  readonly inputs: number;
  /** How many inputs the parser took for valid. */
  readonly accepted: number;
  /** What broke a promise: the smallest such input that was found, and how to find it again. */
  readonly problem?: string;
}

/** Tries mutated inputs on every parser. The same seed and number of runs give the same inputs. */
export async function fuzz({
  seed,
  runs,
  only,
  onTarget = () => undefined,
  targets: known = TARGETS,
}: FuzzOptions): Promise<TargetResult[]> {
  const targets = known.filter(({ name }) => only === undefined || name === only);
  if (targets.length === 0)
    throw new Error(`no target ${only}; known are ${TARGETS.map(({ name }) => name).join(', ')}`);
  const results: TargetResult[] = [];
  for (const target of targets) {
    const result = await fuzzTarget(target, seed, Math.ceil(runs / targets.length));
    onTarget(result);
    results.push(result);
  }
  return results;
}

async function fuzzTarget(target: FuzzTarget, seed: number, runs: number): Promise<TargetResult> {
  const { name, samples, check } = target;
  let [inputs, accepted] = [0, 0];
  for (const sample of samples)
    if (!(await check(sample, sample)))
      return { name, inputs, accepted, problem: `refuses its own sample ${sample.slice(0, 300)}` };
  const [first = ''] = samples;
  try {
    if (OF_ANY_LENGTH.has(target)) await check(withLongRun(first), first);
  } catch (error) {
    return { name, inputs, accepted, problem: `${describe(error)}\n  input: a sample with a run of ${RUN} characters` };
  }
  const property = fc.asyncProperty(mutated(samples), async ({ input, sample }: Mutated) => {
    inputs += 1;
    if (await check(input, sample)) accepted += 1;
  });
  const found = await fc.check(property, { seed, numRuns: runs });
  if (!found.failed) return { name, inputs, accepted };
  const [smallest] = found.counterexample ?? [];
  const problem = `${describe(found.errorInstance)}\n  input: ${JSON.stringify(smallest?.input.slice(0, 2000))}\n  replay: npm run fuzz -- --seed ${seed} --runs ${runs} --only ${name}`;
  return { name, inputs, accepted, problem };
}

/** Longer than what the stack of a pattern or of a recursive parser holds, and a multiple of a group of base64. */
const RUN = 6_000_000;
/** Files of strangers, which may have any length. */
const OF_ANY_LENGTH: ReadonlySet<FuzzTarget> = new Set([...PROOF_TARGETS, ...ENVELOPE_TARGETS]);

/** A long run of one character in the middle, which is a place of base64 in proofs, envelopes and pages. */
function withLongRun(sample: string): string {
  const middle = Math.floor(sample.length / 2);
  return sample.slice(0, middle) + 'A'.repeat(RUN) + sample.slice(middle);
}

function describe(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : (thrown as { error?: Error } | undefined)?.error;
  return error?.stack ?? String(thrown);
}

/** Inputs of one target, without trying them. */
export function sampleInputs({ samples }: FuzzTarget, seed: number, count: number): string[] {
  return fc.sample(mutated(samples), { seed, numRuns: count }).map(({ input }) => input);
}
