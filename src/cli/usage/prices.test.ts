import { describe, expect, it } from 'vitest';
import { findCost } from './prices.ts';

const NOTHING = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
};
const MILLION = 1_000_000;

describe('the cost of tokens', () => {
  it('sums all counts at their prices', () => {
    const each = (name: keyof typeof NOTHING) => findCost('claude-opus-5', { ...NOTHING, [name]: MILLION });
    expect(each('input_tokens')).toBe(5);
    expect(each('output_tokens')).toBe(25);
    expect(each('cache_read_tokens')).toBe(0.5);
    expect(each('cache_write_tokens')).toBe(6.25);
    expect(each('cache_write_1h_tokens')).toBe(10);
    const all = Object.fromEntries(Object.keys(NOTHING).map((name) => [name, MILLION])) as typeof NOTHING;
    expect(findCost('claude-opus-5', all)).toBe(46.75);
    expect(findCost('gpt-5.5', { ...NOTHING, input_tokens: 2 * MILLION, cache_read_tokens: MILLION })).toBe(10.5);
  });

  it('takes a dated name of a model for the model', () => {
    for (const model of ['claude-haiku-4-5-20251001', 'gpt-5.4-2026-03-05'])
      expect(findCost(model, NOTHING), model).toBe(0);
  });

  it('reports an unknown cost for an unknown model', () => {
    const names = [
      '',
      'claude',
      'claude-opus-9',
      'claude-opus-5-5',
      'CLAUDE-OPUS-5',
      'gpt-5.5-2026',
      'toString',
      '__proto__',
    ];
    for (const model of names) expect(findCost(model, NOTHING), model).toBeUndefined();
  });

  it('reports an unknown cost if one count has no price', () => {
    expect(findCost('gpt-5.5', { ...NOTHING, cache_write_tokens: 1 })).toBeUndefined();
    expect(findCost('gpt-5.6', { ...NOTHING, cache_write_tokens: 1 })).toBeGreaterThan(0);
  });
});
