import { describe, expect, it } from 'vitest';
import { createStyles } from '../../terminal-text.ts';
import { displayWidth } from '../views/text-width.ts';
import { PRICES } from './prices.ts';
import type { TaskUsage } from './usage-data.ts';
import { renderUsage } from './view.ts';

const usage = (changes: Partial<TaskUsage>): TaskUsage => ({
  task_id: 'T-0001',
  model: 'claude-opus-5',
  responses: 12,
  input_tokens: 1_234_567,
  output_tokens: 45_678,
  cache_read_tokens: 98_765_432,
  cache_write_tokens: 1_000_000,
  cache_write_1h_tokens: 500_000,
  cost_usd: 12.345,
  ...changes,
});

const LINES = [
  usage({}),
  usage({ task_id: null, model: '模型'.repeat(20), cost_usd: null }),
  usage({ cost_usd: 0.0004 }),
];
const render = (width: number | undefined, lines = LINES) =>
  renderUsage({ usage: lines, prices: PRICES }, { width, colors: createStyles(false) });

describe('the table of tokens', () => {
  it('has whole numbers if there is room', () => {
    const [, first, , third, total] = render(undefined);
    expect(first).toMatch(/ 12 +1,234,567 +45,678 +98,765,432 +1,500,000 +\$12\.35$/);
    expect(third).toMatch(/ \$0\.0004$/);
    expect(total).toMatch(/^total +36 +3,703,701 .+ \$12\.35$/);
  });

  it('fits every terminal, and keeps the cost from 80 columns on', () => {
    for (const width of [20, 40, 60, 80, 100, 200])
      for (const line of render(width)) expect(displayWidth(line), line).toBeLessThanOrEqual(width);
    expect(render(80)[1]).toMatch(/ 1\.2M +45\.7K +98\.8M +1\.5M +\$12\.35$/);
  });

  it('has no sum of costs that are all unknown', () => {
    const lines = render(undefined, [usage({ cost_usd: null })]);
    expect(lines[2]).toMatch(/–$/);
    expect(lines.at(-1)).toBe('1 line has no cost, because a price is not known.');
  });
});
