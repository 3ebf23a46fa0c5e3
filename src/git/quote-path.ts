const ESCAPES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};
const DELETE = 127;
const SPACE = 32;

/**
 * A path as a text of one line that stands for its bytes: as it is, or quoted as git does (`"a\nb"`, `"\377"`) if it
 * has control characters or is not UTF-8. A path that begins with a quotation mark is quoted too, so no two are equal.
 */
export function quotePath(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const isUtf8 = Buffer.from(text, 'utf8').equals(bytes);
  if (isUtf8 && !/\p{Cc}/u.test(text) && !text.startsWith('"')) return text;
  const quoted = isUtf8 ? Array.from(text, quoteCharacter) : [...bytes].map(quoteByte);
  return `"${quoted.join('')}"`;
}

function quoteCharacter(character: string): string {
  const isControl = /\p{Cc}/u.test(character);
  const isPlain = !isControl && character !== '"' && character !== '\\';
  return isPlain ? character : [...Buffer.from(character, 'utf8')].map(quoteByte).join('');
}

function quoteByte(byte: number): string {
  const escaped = ESCAPES[byte];
  if (escaped !== undefined) return escaped;
  return byte < SPACE || byte >= DELETE ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte);
}
