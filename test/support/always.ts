import * as fc from 'fast-check';

/** Checks a property on many inputs, the same ones on every run: a red test stays red until it is mended. */
export function always<Inputs>(property: fc.IProperty<Inputs>, numRuns = 500): void {
  fc.assert(property, { seed: 6962, numRuns });
}
