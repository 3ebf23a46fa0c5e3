import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { sync, syncFolder } from '../../files/sync.ts';
import { BUNDLE_PLACE, embeddingTags, type PageView } from '../../integrity/index.ts';
import { locateInPackage } from '../../version.ts';
import { CommandError } from '../support/command-result.ts';

/** The page that verifies a bundle in a browser. Read only when it is asked for: it must not delay other commands. */
export function readPage(): { readonly text: string; readonly digest: string } {
  const bytes = brotliDecompressSync(readFileSync(locateInPackage('dist/page.html.br')));
  return { text: bytes.toString('utf8'), digest: createHash('sha256').update(bytes).digest('hex') };
}

/** The page with a bundle in it, of the chunks of its gzip. */
export async function* embedInPage(packed: AsyncIterable<Buffer>, view: PageView): AsyncGenerator<string> {
  const { text } = readPage();
  const place = text.indexOf(BUNDLE_PLACE);
  const [begin, end] = embeddingTags(view);
  yield text.slice(0, place) + begin;
  // Three bytes are four characters; what is left over goes with the next chunk.
  let rest = Buffer.alloc(0);
  for await (const chunk of packed) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    yield bytes.toString('base64', 0, whole);
    rest = bytes.subarray(whole);
  }
  yield rest.toString('base64') + end + text.slice(place + BUNDLE_PLACE.length);
}

/** Replaces an earlier page with the finished one; refuses to replace any other file. */
export function replacePage(partial: string, target: string): void {
  assertReplaceable(target);
  sync(partial);
  renameSync(partial, target);
  syncFolder(target);
}

export function assertReplaceable(target: string): void {
  if (!existsSync(target) || isPage(target)) return;
  throw new CommandError('bad input', `${target} exists and is not a page of Colibri`, {
    advice: 'choose another file',
  });
}

const GENERATOR = '<meta name="generator" content="Colibri ';
const HEAD_BYTES = 4096;

function isPage(path: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(path, 'r');
  try {
    return head.toString('latin1', 0, readSync(file, head)).includes(GENERATOR);
  } catch {
    // A folder cannot be read.
    return false;
  } finally {
    closeSync(file);
  }
}
