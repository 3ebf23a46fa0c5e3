import { describe, expect, it } from 'vitest';
import { describeDurations, formatDuration, limitDays, MAX_DURATION, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it('reads seconds, minutes, hours and days', () => {
    const durations = ['90s', '30m', '2h', '7d'].map((text) => parseDuration(text, MAX_DURATION));
    expect(durations).toEqual([90_000, 1_800_000, 7_200_000, 604_800_000]);
  });

  it('refuses everything else', () => {
    const wrong = ['', '5', 's', '0s', '-5s', '+5s', '1.5h', '5 s', '5S', '5ms', '1h30m', '05s', '5s ', '٣s', '1e3s'];
    for (const text of [...wrong, '1234567890s', '9999999999d', 'off', 'Infinitys'])
      expect(parseDuration(text, MAX_DURATION), JSON.stringify(text)).toBeUndefined();
  });

  it('accepts the longest duration in every unit, and one second more in none', () => {
    for (const text of ['2d', '48h', '2880m', '172800s']) expect(parseDuration(text, limitDays(2))).toBe(172_800_000);
    for (const text of ['3d', '49h', '2881m', '172801s'])
      expect(parseDuration(text, limitDays(2)), text).toBeUndefined();
    expect(describeDurations(limitDays(2))).toMatch(/from 1s to 2d$/);
  });
});

describe('formatDuration', () => {
  it('names the two largest units', () => {
    const texts = [0, 999, 1000, 12_345, 60_000, 250_000, 7_500_000, 7_205_000, 86_400_000, 90_000_000].map(
      formatDuration,
    );
    expect(texts).toEqual(['0s', '0s', '1s', '12s', '1m', '4m 10s', '2h 5m', '2h', '1d', '1d 1h']);
  });

  it('shows a clock that went back as no time at all', () => {
    expect(formatDuration(-5000)).toBe('0s');
  });
});
