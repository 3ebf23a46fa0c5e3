export interface Timing {
  readonly p50Us: number;
  readonly p95Us: number;
}

export interface TimedCall<Name extends string> {
  readonly name: Name;
  readonly call: () => Promise<unknown>;
}

export interface Plan {
  readonly warmUpCalls: number;
  readonly rounds: number;
  readonly callsPerRound: number;
}

/** Every round runs every call, in rotating order, so that noise affects all of them alike. */
export async function measureInterleaved<Name extends string>(
  calls: readonly TimedCall<Name>[],
  { warmUpCalls, rounds, callsPerRound }: Plan,
): Promise<Map<Name, Timing>> {
  for (const { call } of calls) for (let done = 0; done < warmUpCalls; done += 1) await call();
  const samples = new Map<Name, number[]>(calls.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let place = 0; place < calls.length; place += 1) {
      const timed = calls[(round + place) % calls.length] as TimedCall<Name>;
      // The first call after a switch finds the CPU caches filled by another program.
      await timed.call();
      for (let done = 0; done < callsPerRound; done += 1) samples.get(timed.name)?.push(await timeUs(timed.call));
    }
  }
  return new Map([...samples].map(([name, values]) => [name, summarize(values)]));
}

async function timeUs(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return (performance.now() - start) * 1000;
}

export function summarize(valuesUs: readonly number[]): Timing {
  return { p50Us: median(valuesUs), p95Us: quantile(valuesUs, 0.95) };
}

/** NaN without values, which meets no limit. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? Number.NaN;
}
