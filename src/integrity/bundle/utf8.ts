import { BadFormat } from '../bad-format.ts';

/** A byte order mark is a character like any other, which no format here allows. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new BadFormat(`${what} is not UTF-8`);
  }
}
