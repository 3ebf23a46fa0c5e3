type Key = readonly unknown[];

/**
 * Returns true if a key comes after the one that a page began at. A loop over pages must stop otherwise: SQLite sorts
 * texts and bytes after all numbers, so that a forged key would be found again and again.
 */
export function isAfter(key: Key, last: Key): boolean {
  for (const [place, value] of key.entries()) {
    const order = compare(value, last[place]);
    if (order !== 0) return order > 0;
  }
  return false;
}

/** NaN for values that have no common order. */
function compare(value: unknown, last: unknown): number {
  if (typeof value === 'number' && typeof last === 'number') return value - last;
  if (typeof value === 'string' && typeof last === 'string')
    return Buffer.compare(Buffer.from(value), Buffer.from(last));
  return Number.NaN;
}
