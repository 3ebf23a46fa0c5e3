import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { displayWidth } from '../views/text-width.ts';
import { renderProgress } from './progress-bar.ts';

describe('a progress bar', () => {
  for (const columns of [20, 30, 40, 45, 80])
    promiseTest('cli/views', `fits ${columns} columns, with the last one left free`, () => {
      for (const label of ['verifying', 'verifying the backup'])
        for (const share of [0, 0.5, 1]) {
          const line = renderProgress(label, share, columns);
          expect(displayWidth(line)).toBeLessThan(columns);
          expect(line).toContain(` ${share * 100}%`);
        }
    });

  promiseTest('cli/views', 'has 30 cells where there is room', () => {
    expect(renderProgress('verifying', 0.5, 80)).toBe(`verifying ${'█'.repeat(15)}${'░'.repeat(15)} 50%`);
  });
});
