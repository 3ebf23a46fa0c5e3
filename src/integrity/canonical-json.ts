import { MAX_DEPTH } from './canonical-text.ts';

/**
 * RFC 8785 (JCS), strict: one value has one text, and a value that JSON cannot carry faithfully is refused instead of
 * converted.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export class NotCanonical extends Error {
  readonly path: readonly (string | number)[];
  readonly reason: string;

  constructor(path: readonly (string | number)[], reason: string) {
    // A refusal is itself recorded, so it must not repeat the half of a surrogate pair that it complains about.
    const readable = path.map((step) => (typeof step === 'string' ? step.toWellFormed() : step));
    super(`${path.length === 0 ? 'the value' : readable.join('.')}: ${reason}`);
    this.name = 'NotCanonical';
    this.path = readable;
    this.reason = reason;
  }
}

export function canonicalize(value: unknown): string {
  return isInOrder(value, 0) ? JSON.stringify(value) : write(value, []);
}

/** True for what JSON.stringify writes canonically by itself. Our own records have their keys in order to get here. */
function isInOrder(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
    case 'boolean':
      return true;
    case 'object':
      if (value === null) return true;
      return depth < MAX_DEPTH && (Array.isArray(value) ? isArrayInOrder(value, depth) : isObjectInOrder(value, depth));
    default:
      return false;
  }
}

function isArrayInOrder(items: readonly unknown[], depth: number): boolean {
  if (Object.getPrototypeOf(items) !== Array.prototype || Object.keys(items).length !== items.length) return false;
  if ('toJSON' in items) return false;
  return items.every((item) => isInOrder(item, depth + 1));
}

function isObjectInOrder(value: object, depth: number): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype || 'toJSON' in value) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  let previous: string | undefined;
  for (const key of Object.keys(value)) {
    if (previous !== undefined && previous >= key) return false;
    if (!key.isWellFormed() || !isInOrder((value as Record<string, unknown>)[key], depth + 1)) return false;
    previous = key;
  }
  return true;
}

function write(value: unknown, path: (string | number)[]): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, path);
    case 'number':
      return writeNumber(value, path);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (path.length >= MAX_DEPTH) throw new NotCanonical(path.slice(0, 3), `nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
    default:
      throw new NotCanonical(path, `${typeof value} is not JSON`);
  }
}

/** Printable ASCII but for the quotation mark and the backslash: its JSON is itself between quotation marks. */
const PLAIN = /^[ !#-[\]-~]*$/;

function writeString(text: string, path: readonly (string | number)[]): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new NotCanonical(path, 'contains half of a surrogate pair');
  return JSON.stringify(text);
}

function writeNumber(value: number, path: readonly (string | number)[]): string {
  if (!Number.isFinite(value)) throw new NotCanonical(path, 'is not a finite number');
  // Beyond 2^53 two different integers in the sender's text are one number here.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new NotCanonical(path, 'is an integer beyond 2^53 - 1');
  }
  return JSON.stringify(value);
}

function writeArray(items: readonly unknown[], path: (string | number)[]): string {
  if (Object.getPrototypeOf(items) !== Array.prototype) throw new NotCanonical(path, 'is not a plain array');
  if (Object.keys(items).length !== items.length)
    throw new NotCanonical(path, 'is an array with holes or named members');
  let text = '';
  for (let index = 0; index < items.length; index += 1) {
    path.push(index);
    text += (index === 0 ? '' : ',') + write(items[index], path);
    path.pop();
  }
  return `[${text}]`;
}

function writeObject(value: object, path: (string | number)[]): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Dates, maps and class instances serialize by rules of their own, not by this standard's.
  if (prototype !== Object.prototype && prototype !== null) throw new NotCanonical(path, 'is not a plain object');
  if (Object.getOwnPropertySymbols(value).length > 0) throw new NotCanonical(path, 'has a member named by a symbol');
  if ('toJSON' in value && typeof value.toJSON === 'function') throw new NotCanonical(path, 'has a toJSON method');
  let text = '';
  // The default sort compares UTF-16 code units, as RFC 8785 section 3.2.3 asks.
  for (const key of Object.keys(value).sort()) {
    path.push(key);
    const member = write((value as Record<string, unknown>)[key], path);
    text += `${text === '' ? '' : ','}${writeString(key, path)}:${member}`;
    path.pop();
  }
  return `{${text}}`;
}
