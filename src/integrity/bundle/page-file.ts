import { BadFormat } from '../bad-format.ts';
import { decodeBase64 } from '../notes/base64.ts';
import { decodeUtf8 } from './utf8.ts';

/**
 * A page of `colibri export --html` with a bundle in it. The rest of the file is untrusted code and is ignored: only
 * the bundle is verified.
 */

/** The first bytes of every page. */
const PAGE_START = new TextEncoder().encode('<!doctype html>');
/** Stands in the page where the bundle goes. */
export const BUNDLE_PLACE = '<!-- the bundle -->';

const END = '</script>';

/** The views that a page can open with. */
export type PageView = 'claims' | 'board';

/** Around the gzip of the bundle in base64. A block of data: no browser runs it. */
export function embeddingTags(view: PageView): readonly [begin: string, end: string] {
  return [`<script type="text/plain" id="bundle" data-view="${view}">`, END];
}

const BEGIN = /<script type="text\/plain" id="bundle" data-view="(?:claims|board)">/g;

/** The gzip of the bundle in a page; undefined if the file is not a page. Refuses a page with two bundles. */
export function findPacked(file: Uint8Array): Uint8Array | undefined {
  if (!PAGE_START.every((byte, place) => byte === file[place])) return undefined;
  const text = decodeUtf8(file, 'the page');
  const [begin, ...more] = text.matchAll(BEGIN);
  if (begin === undefined) throw new BadFormat('the page has no bundle');
  if (more.length > 0) throw new BadFormat('the page has more than one bundle');
  const start = begin.index + begin[0].length;
  const end = text.indexOf(END, start);
  if (end < 0) throw new BadFormat('the bundle of the page has no end');
  return decodeBase64(text.slice(start, end), 'the bundle of the page');
}
