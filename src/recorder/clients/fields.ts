import { parseJson } from '../../integrity/parse-json.ts';

/** Reads JSON of unknown shape. A member counts only if it is the object's own and has the right type. */
export type Payload = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Payload | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : undefined;
}

/** The first of these members that exists. */
export function member(value: unknown, ...names: readonly string[]): unknown {
  const object = asObject(value);
  const name = names.find((candidate) => object !== undefined && Object.hasOwn(object, candidate));
  return name === undefined ? undefined : object?.[name];
}

/** The first of these members that is a text with characters in it. */
export function text(value: unknown, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = member(value, name);
    if (typeof found === 'string' && found !== '') return found;
  }
  return null;
}

export function integer(value: unknown, ...names: readonly string[]): number | null {
  for (const name of names) {
    const found = member(value, name);
    if (typeof found === 'number' && Number.isFinite(found) && Math.abs(found) < 2 ** 53) return Math.round(found);
  }
  return null;
}

/** Milliseconds; clients write a number or an ISO 8601 text. */
export function time(value: unknown, name: string): number | null {
  const found = member(value, name);
  const parsed = typeof found === 'string' ? Date.parse(found) : integer(value, name);
  return parsed === null || Number.isNaN(parsed) ? null : parsed;
}

/** Some clients pass JSON inside a text. */
export function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}
