import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseTaskId } from './task-argument.ts';

const capital = 'T';

describe('parseTaskId', () => {
  it.each(['42', 't-42', `${capital}-42`, 'T-0042', 't-0042', 't42', '0042', ' 42 ', 't-000042'])(
    'accepts %j',
    (text) => {
      expect(parseTaskId(text)).toBe('T-0042');
    },
  );

  it('accepts more than four digits', () => expect(parseTaskId('t-123456')).toBe('T-123456'));

  it.each(['', '0', 'T-0000', '-42', 'x', 'T-', 'A-0042', '4 2', '42.0', '4e2', '0x2a', '1234567890123', "42' OR 1"])(
    'refuses %j',
    (text) => expect(() => parseTaskId(text)).toThrow(InvalidArgumentError),
  );
});
