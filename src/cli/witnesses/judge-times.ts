import type { Finding, VerifiedCheckpoint } from '../../integrity/index.ts';

/** Clocks differ. */
const MAX_AHEAD_S = 600;

export interface TimeLimits {
  /** Seconds since 1970. */
  readonly now: number;
  /** How old a cosignature may be, in seconds; undefined: any age. */
  readonly maxAge: number | undefined;
}

/** What the clock of the reader says about the times that witnesses state. An old bundle may hide newer entries. */
export function judgeTimes({ witnesses }: VerifiedCheckpoint, { now, maxAge }: TimeLimits): Finding[] {
  const about = 'time';
  return witnesses.flatMap(({ key, time = 0 }): Finding[] => {
    if (time > now + MAX_AHEAD_S)
      return [{ about, holds: 'no', says: `${key.name} states a time in the future: its clock or yours is wrong` }];
    if (maxAge === undefined || now - time <= maxAge) return [];
    const says = `${key.name} saw this log longer ago than you allow: it may have grown or changed since`;
    return [{ about, holds: 'no', says }];
  });
}
