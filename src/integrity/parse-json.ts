/**
 * JSON.parse, without the confusion of keys in V8 13 and 14 (Node 23 to 26, nodejs/node#63785): they compare the raw
 * text of an escaped key with a key that they expect, and after `"k\\"` read `"k\n"` as `"k\\"`. So no engine ever
 * gets an escaped key from here; looking for one costs 0.1 µs for a message, up to 1 % of the time of a long one.
 */
export function parseJson(text: string): unknown {
  // A forged row may hold another type, which JSON.parse would convert to text.
  return typeof text === 'string' && hasEscapedKey(text) ? parsePiecewise(text) : JSON.parse(text);
}

/**
 * Creates objects with these keys, in this order. To V8 an object that gets more than a dozen computed keys is a hash
 * table, which makes every later use of it slow; a copy of a parsed object is not.
 */
export function shapeOf(names: readonly string[]): () => Record<string, unknown> {
  const template = parseJson(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`) as object;
  return () => ({ ...template });
}

/** May return true for text that is no JSON, never false for JSON with an escape in a key. */
function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\') || !ESCAPED_KEY_OR_ITEM.test(text)) return false;
  for (let at = text.indexOf('\\'); at !== -1; ) {
    // A backslash is always inside a string.
    const end = findClosingQuote(text, at);
    if (end === -1 || text[skipBlanks(text, end + 1)] === ':') return true;
    at = text.indexOf('\\', end + 1);
  }
  return false;
}

/**
 * Finds a string with an escape behind a brace or a comma. JSON inside a string has none, because it is escaped itself.
 */
const ESCAPED_KEY_OR_ITEM = /[,{][ \t\n\r]*"[^"\\]*\\/;

interface Open {
  readonly close: ']' | '}';
  readonly value: unknown[] | Record<string, unknown>;
  /** Key of the next member. */
  key: string;
}

/**
 * Gives the engine's parser single strings, numbers and literals, and puts them together itself. Same results and same
 * kind of error as JSON.parse, at any depth.
 */
export function parsePiecewise(text: string): unknown {
  const open: Open[] = [];
  let at = 0;

  const take = (character: string): boolean => {
    at = skipBlanks(text, at);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const takeKey = (): string => {
    at = skipBlanks(text, at);
    if (text[at] !== '"') throw unexpected(text, at);
    const key = takeScalar() as string;
    if (!take(':')) throw unexpected(text, at);
    return key;
  };
  const takeScalar = (): unknown => {
    at = skipBlanks(text, at);
    const start = at;
    at = text[start] === '"' ? findClosingQuote(text, start + 1) + 1 : findScalarEnd(text, start);
    if (at <= start) throw unexpected(text, start);
    return JSON.parse(text.slice(start, at));
  };
  /** Undefined when the value is a container that has members, which come next. */
  const takeValue = (): { readonly value: unknown } | undefined => {
    if (take('[')) {
      if (take(']')) return { value: [] };
      open.push({ close: ']', value: [], key: '' });
      return undefined;
    }
    if (!take('{')) return { value: takeScalar() };
    if (take('}')) return { value: {} };
    open.push({ close: '}', value: {}, key: takeKey() });
    return undefined;
  };
  /** Puts a value where it belongs, and closes what ends with it. Returns the whole once it is complete. */
  const place = (first: unknown): { readonly value: unknown } | undefined => {
    let value = first;
    for (;;) {
      const inner = open.at(-1);
      if (inner === undefined) return { value };
      addMember(inner, value);
      if (take(',')) {
        if (inner.close === '}') inner.key = takeKey();
        return undefined;
      }
      if (!take(inner.close)) throw unexpected(text, at);
      ({ value } = inner);
      open.pop();
    }
  };

  for (;;) {
    const member = takeValue();
    const whole = member === undefined ? undefined : place(member.value);
    if (whole === undefined) continue;
    at = skipBlanks(text, at);
    if (at < text.length) throw unexpected(text, at);
    return whole.value;
  }
}

function addMember({ value: container, key }: Open, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  // An assignment would set the prototype; JSON.parse makes it a member like any other.
  else if (key === '__proto__')
    Object.defineProperty(container, key, { value, configurable: true, enumerable: true, writable: true });
  else container[key] = value;
}

/** The end of the string that contains the offset, or -1 if it is unterminated. The offset must not be in an escape. */
function findClosingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote !== -1 && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1);
  return quote;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && text[at - 1] === '\\') at -= 1;
  return (quote - at) % 2 === 1;
}

function findScalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !',]}: \t\n\r'.includes(text[at] as string)) at += 1;
  return at;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (' \t\n\r'.includes(text[at] ?? 'x')) at += 1;
  return at;
}

function unexpected(text: string, at: number): SyntaxError {
  const what = at < text.length ? `Unexpected token ${JSON.stringify(text[at])}` : 'Unexpected end of JSON input';
  return new SyntaxError(`${what} at position ${at}`);
}
