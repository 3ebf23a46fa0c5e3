import { BadFormat } from '../bad-format.ts';

/** Finds one character: a pattern that matches a whole text of some million would exhaust the stack of the engine. */
const FOREIGN = /[^A-Za-z0-9+/]/;
/** Short enough for the arguments of one call. */
const CHUNK = 8192;

/** RFC 4648 section 4, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let characters = '';
  for (let begin = 0; begin < bytes.length; begin += CHUNK)
    characters += String.fromCharCode(...bytes.subarray(begin, begin + CHUNK));
  return btoa(characters);
}

/** Refuses white space, other alphabets, missing padding, and unused bits that are not zero: one value has one text. */
export function decodeBase64(text: string, what: string): Uint8Array {
  if (text.length % 4 !== 0 || FOREIGN.test(withoutPadding(text)))
    throw new BadFormat(`${what} is not base64 with padding`);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  if (text !== '' && encodeBase64(bytes.subarray(lastGroup(bytes.length))) !== text.slice(-4))
    throw new BadFormat(`${what} is not canonical base64`);
  return bytes;
}

function withoutPadding(text: string): string {
  if (!text.endsWith('=')) return text;
  return text.slice(0, text.endsWith('==') ? -2 : -1);
}

/** Only the last group can have unused bits. */
function lastGroup(length: number): number {
  return Math.floor((length - 1) / 3) * 3;
}
