const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Throws if the bytes are invalid. */
export function decode(bytes: Uint8Array, begin: number, end: number): string {
  return decoder.decode(bytes.subarray(begin, end));
}

/** The length of the character of two bytes or more that begins here; 0 if it is invalid (RFC 3629, section 4). */
export function wideLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  const second = bytes[at + 1] as number;
  if (lead < 0xe0) return lead >= 0xc2 && isTail(second) ? 2 : 0;
  if (!isTail(second) || !isTail(bytes[at + 2] as number)) return 0;
  if (lead < 0xf0) {
    if (lead === 0xe0 && second < 0xa0) return 0;
    // Half of a surrogate pair.
    return lead === 0xed && second > 0x9f ? 0 : 3;
  }
  if (lead > 0xf4 || !isTail(bytes[at + 3] as number)) return 0;
  if (lead === 0xf0 && second < 0x90) return 0;
  return lead === 0xf4 && second > 0x8f ? 0 : 4;
}

function isTail(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

export function copy(from: Uint8Array, begin: number, end: number, target: Uint8Array, offset: number): number {
  let to = offset;
  for (let at = begin; at < end; at += 1) {
    target[to] = from[at] as number;
    to += 1;
  }
  return to;
}

export function equal(left: Uint8Array, begin: number, end: number, right: Uint8Array, from: number): boolean {
  for (let at = begin, other = from; at < end; at += 1, other += 1) if (left[at] !== right[other]) return false;
  return true;
}

/** Whether these bytes begin at a place. */
export function startsAt(bytes: Uint8Array, at: number, start: Uint8Array): boolean {
  return equal(start, 0, start.length, bytes, at);
}
