/** RFC 8785 written out character by character, for values that are known to be plain JSON. */
export function naiveCanonicalize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(naiveCanonicalize).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).toSorted(([one], [other]) => compareCodeUnits(one, other));
    return `{${members.map(([key, member]) => `${naiveString(key)}:${naiveCanonicalize(member)}`).join(',')}}`;
  }
  if (typeof value === 'string') return naiveString(value);
  // Section 3.2.2.3 takes the text from ECMAScript's Number::toString, which also writes minus zero as 0.
  return String(value);
}

/** Section 3.2.3: arrays of UTF-16 code units, independent of locale. */
function compareCodeUnits(one: string, other: string): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const difference = one.charCodeAt(index) - other.charCodeAt(index);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

const SHORT_ESCAPES: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** Section 3.2.2.2. */
function naiveString(text: string): string {
  let quoted = '"';
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const short = SHORT_ESCAPES[unit];
    if (short !== undefined) quoted += short;
    else if (unit < 0x20) quoted += `\\u00${unit < 0x10 ? '0' : '1'}${'0123456789abcdef'.charAt(unit % 16)}`;
    else quoted += text.charAt(index);
  }
  return `${quoted}"`;
}
