import * as fc from 'fast-check';

/** Keys at which careless code stumbles, among any others. */
const keys = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'toJSON',
    'length',
    '0',
    '10',
    '9',
    '',
    '\uffff',
    '\u{10000}',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

// Minus zero is written as zero, so it alone is not read back as it was.
const numbers = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => (!Number.isInteger(value) || Number.isSafeInteger(value)) && !Object.is(value, -0));

/** Any value that is JSON and stays itself when it is read back. */
export const plainJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((members) => Object.fromEntries(members)),
  ),
})).value;
