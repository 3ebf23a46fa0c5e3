export const ZERO = 0x30;
const NINE = 0x39;

/** So few that a number keeps them all. */
export const MAX_DIGITS = 15;

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** The number with this digit behind it. A sum with the code of the digit could be too large for an exact number. */
export function withDigit(value: number, byte: number): number {
  return value * 10 + (byte - ZERO);
}
