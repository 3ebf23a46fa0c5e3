import { Session } from 'node:inspector';
import type { FuzzTarget } from './target.ts';

/** What is repeated: nesting, strings, escapes, lines, and what separates things. */
const PIECES = ['[', '{"a":', '"', '\\', '\\"', ' ', '\n', 'a', '1', ',', '- ', '&a ', '*a\n', '+', '\u{1f426}', '# '];
/** Repetitions. Parsers have limits, above which they refuse at once: that is not growth. */
const TIMES = 1500;
/** Twice the input may take a little more than twice the operations; a quadratic parser takes four times as many. */
const MAX_GROWTH = 3;
/** Parsers that read nothing differ by less. */
const FEWEST = 2000;

/**
 * Counts how often blocks of code run: what a clock would measure, but the same on every machine. Native code counts as
 * nothing, and so does code that ran before the counter was made.
 */
export class OperationCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async count(work: () => unknown): Promise<number> {
    this.#take();
    await work();
    return this.#take();
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** The operations since the last time. */
  #take(): number {
    let count = 0;
    this.#session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { functions } of result)
        for (const { ranges } of functions) for (const range of ranges) count += range.count;
    });
    return count;
  }
}

/** Inputs for which a parser does more than it should: its operations grow faster than their length. */
export async function findSlowInputs(
  counter: OperationCounter,
  { name, samples: [sample = ''], check }: FuzzTarget,
): Promise<string[]> {
  const slow: string[] = [];
  const middle = Math.floor(sample.length / 2);
  const operations = (piece: string, times: number) => {
    const input = sample.slice(0, middle) + piece.repeat(times) + sample.slice(middle);
    return counter.count(() => check(input, sample));
  };
  await operations('', 0);
  for (const piece of PIECES) {
    const [once, twice] = [await operations(piece, TIMES), await operations(piece, 2 * TIMES)];
    if (twice > MAX_GROWTH * once + FEWEST)
      slow.push(`${name}: ${once} operations for ${TIMES} times ${JSON.stringify(piece)}, ${twice} for twice as many`);
  }
  return slow;
}

/** A target that a counter which works must find. */
export const QUADRATIC: FuzzTarget = {
  name: 'quadratic',
  samples: [''],
  check: (input) => {
    let same = 0;
    for (let at = 0; at < input.length; at += 1) for (let to = 0; to < at; to += 10) same += 1;
    return same > 0;
  },
};
