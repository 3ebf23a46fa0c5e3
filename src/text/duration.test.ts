import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it('reads seconds, minutes, hours and days', () => {
    expect(['90s', '30m', '2h', '7d'].map(parseDuration)).toEqual([90_000, 1_800_000, 7_200_000, 604_800_000]);
  });

  it('refuses everything else', () => {
    const wrong = ['', '5', 's', '0s', '-5s', '+5s', '1.5h', '5 s', '5S', '5ms', '1h30m', '05s', '5s ', '٣s', '1e3s'];
    for (const text of [...wrong, '1234567s', 'off', 'Infinitys'])
      expect(parseDuration(text), JSON.stringify(text)).toBeUndefined();
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
