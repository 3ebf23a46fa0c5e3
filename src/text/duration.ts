const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** The longest duration that a setting or an option may have. */
export interface DurationLimit {
  readonly text: string;
  readonly ms: number;
}

/** A year. */
export const MAX_DURATION = limitDays(365);

export function limitDays(days: number): DurationLimit {
  return { text: `${days}d`, ms: days * DAY_MS };
}

/** How a message describes the durations that `parseDuration` accepts. */
export function describeDurations({ text }: DurationLimit): string {
  return `a duration such as 90s, 30m, 2h or 7d, from 1s to ${text}`;
}

/** "90s", "30m", "2h" or "7d" in milliseconds; undefined for other texts, zero, and more than the limit. */
export function parseDuration(text: string, { ms: maxMs }: DurationLimit): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(digits) * (UNIT_MS[unit] ?? 0);
  return durationMs > 0 && durationMs <= maxMs ? durationMs : undefined;
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
