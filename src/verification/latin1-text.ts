/** UTF-8 bytes as a string of one character per byte: split and compared without decoding. */
export type Latin1Text = string;

export function toLatin1(text: string | Uint8Array): Latin1Text {
  return bufferOf(text).toString('latin1');
}

export function fromLatin1(text: Latin1Text): string {
  return Buffer.from(text, 'latin1').toString();
}

/** One flat text, which compares faster than one that is joined from digits. */
export function hexOfLatin1(text: Latin1Text): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

/** A Buffer searches in native code, whatever array type the driver returned. */
export function hasNul(bytes: Uint8Array): boolean {
  return bufferOf(bytes).includes(0);
}

function bufferOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}
