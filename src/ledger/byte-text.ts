import { isAscii } from 'node:buffer';

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

/** What bytes of UTF-8 say. To see that it is plain ASCII takes less time than to decode it. */
export function textOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

function bufferOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}
