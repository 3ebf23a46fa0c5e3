import { describe, expect, it } from 'vitest';
import { clockId, machineClock } from './machine-clock.ts';

describe('the clock of the machine', () => {
  it('does not run backwards, and has the same id for every process', () => {
    const first = machineClock.nowMs();
    expect(machineClock.nowMs()).toBeGreaterThanOrEqual(first ?? Number.NaN);
    expect(machineClock.id).toMatch(/^(?:[0-9a-f]{12}|[a-z0-9]+)$/);
  });

  it('names the clock after the boot of the machine, or after its platform', () => {
    expect(clockId('0f0e0d0c-1a1b-4c1d-8e1f-2a2b2c2d2e2f\n')).toBe('0f0e0d0c1a1b');
    for (const unreadable of [undefined, '', 'nonsense', '0F0E0D0C-1A1B-4c1d'])
      expect(clockId(unreadable)).toBe(process.platform);
  });
});
