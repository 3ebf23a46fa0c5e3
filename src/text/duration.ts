const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How a message describes the durations that `parseDuration` accepts. */
export const DURATION_RULE = 'a duration such as 90s, 30m, 2h or 7d';

/** "90s", "30m", "2h" or "7d" in milliseconds; undefined for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(digits) * unitMs;
}

/** The two largest units: "12s", "4m 10s", "2h 5m", "3d". */
export function formatDuration(ms: number): string {
  const parts: string[] = [];
  let rest = Math.max(0, Math.floor(ms / 1000)) * 1000;
  for (const unit of ['d', 'h', 'm', 's']) {
    const unitMs = UNIT_MS[unit] as number;
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${count}${unit}` : '');
  }
  return parts.slice(0, 2).join(' ').trim() || '0s';
}

/** The largest unit alone, for narrow places: "12s", "4m", "2h", "3d". */
export function largestUnit(ms: number): string {
  return formatDuration(ms).split(' ')[0] ?? '';
}
