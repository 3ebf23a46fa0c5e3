import { isAscii, isUtf8 } from 'node:buffer';

/**
 * A text by its bytes: one character for each byte of its UTF-8. Long texts in any language are taken from the store,
 * cut and compared like this, without being decoded.
 */
export type ByteText = string;

export function toByteText(text: string | Uint8Array): ByteText {
  return bufferOf(text).toString('latin1');
}

export function fromByteText(text: ByteText): string {
  return Buffer.from(text, 'latin1').toString();
}

/** What bytes say in UTF-8; undefined when they are none. To see that they are plain ASCII takes the least time. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (isAscii(bytes)) return toByteText(bytes);
  return isUtf8(bytes) ? bufferOf(bytes).toString() : undefined;
}

/** Asks Buffer, which searches in native code, whatever array the driver made. */
export function hasNul(bytes: Uint8Array): boolean {
  return bufferOf(bytes).includes(0);
}

function bufferOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}
