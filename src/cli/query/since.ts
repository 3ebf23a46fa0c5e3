import { InvalidArgumentError } from 'commander';
import { describeDurations, MAX_DURATION, parseDuration } from '../../text/duration.ts';

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?(?:(Z)|([+-])(\d{2}):(\d{2}))?$/i;

/** The start of a period: a duration before now, or a time, which is local unless it has a zone. Returns it in UTC. */
export function parseSince(text: string, nowMs: number): string {
  const duration = parseDuration(text, MAX_DURATION);
  const time = duration === undefined ? parseTime(text) : nowMs - duration;
  if (time !== undefined) return new Date(time).toISOString();
  throw new InvalidArgumentError(
    `Use ${describeDurations(MAX_DURATION)}, or a time such as 2026-04-08 or 2026-04-08T22:15.`,
  );
}

function parseTime(text: string): number | undefined {
  const match = TIME.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '0', utc, sign, zoneHours, zoneMinutes] =
    match;
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [y, mo, d, h, mi, s] = parts;
  const asUtc = new Date(Date.UTC(y, mo - 1, d, h, mi, s, Number(fraction.padEnd(3, '0'))));
  // Date turns February 30 into March 2, and 24:00 into the next day.
  const isReal = asUtc.getUTCMonth() === mo - 1 && asUtc.getUTCDate() === d && h < 24 && mi < 60 && s < 60;
  if (!isReal || Number(zoneHours ?? 0) > 14 || Number(zoneMinutes ?? 0) > 59) return undefined;
  if (utc !== undefined) return asUtc.getTime();
  if (sign === undefined) return new Date(y, mo - 1, d, h, mi, s, asUtc.getUTCMilliseconds()).getTime();
  const offsetMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return asUtc.getTime() - (sign === '-' ? -offsetMs : offsetMs);
}
