import { describe, expect, it } from 'vitest';
import { recordArguments } from './record-arguments.ts';

describe('the recorded arguments', () => {
  it('records well-formed arguments for an input with a lone surrogate in a key', () => {
    const { text, defect } = recordArguments({ rawInput: JSON.parse('{"a\\ud800":1}') });
    expect(defect?.reason).toBe('contains half of a surrogate pair');
    expect(JSON.parse(text)).toEqual({ refused: 'a\ufffd: contains half of a surrogate pair' });
  });

  it('truncates the arguments of a refused input with a very long key', () => {
    const { text, defect } = recordArguments({ rawInput: { ['k'.repeat(1_000_000)]: Number.NaN } });
    expect(defect?.reason).toBe('is not a finite number');
    expect(text.length).toBeLessThan(4096);
  });
});
