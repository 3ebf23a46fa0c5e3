import { BadFormat, findPacked } from '../../src/integrity/index.ts';

/** What is judged becomes a text, and a text of a browser holds about half a gigabyte. */
const MAX_BYTES = 400_000_000;

/** A file that was dropped: a bundle or a proof, or a page with a bundle in it. */
export async function readFile(file: Blob): Promise<Uint8Array> {
  if (file.size > MAX_BYTES) throw new BadFormat(`the file is larger than ${MAX_BYTES} bytes`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const packed = findPacked(bytes);
  return packed === undefined ? bytes : unpack(packed);
}

/** The bundle of a page, from its gzip. */
export async function unpack(packed: Uint8Array): Promise<Uint8Array> {
  const blob = new Blob([packed as Uint8Array<ArrayBuffer>]);
  const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      // A small file can unpack to more than the memory holds.
      if (size > MAX_BYTES) throw new BadFormat(`the bundle of the page is larger than ${MAX_BYTES} bytes`);
      chunks.push(part.value);
    }
  } catch (error) {
    if (error instanceof BadFormat) throw error;
    throw new BadFormat('the bundle of the page is damaged');
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
