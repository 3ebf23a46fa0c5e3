import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { createGzip } from 'node:zlib';
import type { Reader } from '../../db/database.ts';
import {
  BUNDLE_FORMAT,
  type BundledEntry,
  type BundleScope,
  canonicalize,
  type Digest,
  type Json,
  type PageView,
  parseCheckpoint,
  subsetRanges,
} from '../../integrity/index.ts';
import { StoredTree, storedLeaf } from '../../ledger/stored-tree.ts';
import type { Person } from '../people/open-person.ts';
import { assertFree, publish, removeDatabase } from '../support/atomic-file.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { CommandError, type CommandResult } from '../support/command-result.ts';
import { signForOthers } from '../witnesses/attest.ts';
import { assertReplaceable, embedInPage, replacePage } from './page.ts';
import { readEntries } from './read-entries.ts';
import { selectEntries } from './select-entries.ts';
import { notAsSigned, SubsetFold, WholeFold } from './signed-entries.ts';

export interface BundleRequest {
  readonly scope: BundleScope;
  readonly out: string;
  readonly redact: boolean;
  /** A file with an earlier checkpoint, to show the log as it was then. */
  readonly at?: string | undefined;
  /** Writes a page that has the bundle in it, and opens with this view. */
  readonly page?: PageView;
  /** An earlier page at this place is replaced. */
  readonly replaces?: boolean;
}

/** Signs the log as it is now, and writes the entries of a scope with the proof that they are in it. */
export async function makeBundle(person: Person, request: BundleRequest): Promise<CommandResult> {
  const { out, redact, at, page, replaces = false } = request;
  const file = resolve(out);
  if (replaces) assertReplaceable(file);
  else assertFree(file);
  // A page that is replaced is for its owner, who needs no witness.
  const checkpoint = replaces ? await person.signCheckpoint() : await signForOthers(person, at);
  const { size, root } = parseCheckpoint(checkpoint);
  const partial = join(dirname(file), `colibri-bundle-${randomBytes(4).toString('hex')}.partial`);
  const count = await withCleanUp(
    () => removeDatabase(partial),
    async () => {
      const written = await person.read((reader) => write(reader, partial, { ...request, checkpoint, size, root }));
      if (written === undefined) throw new CommandError('cannot tell', 'there is no ledger to read');
      if (replaces) replacePage(partial, file);
      else publish(partial, file);
      return written;
    },
  );
  const facts = { file, entries: count, size, root, redacted: redact, checkpoint };
  const lines = [
    file,
    `${count} entries of ${size}, ${redact ? 'without their content' : 'with their content'}`,
    ...(page === undefined ? [] : [`To look at it, open ${pathToFileURL(file).href} in a browser.`]),
    `To check it: colibri verify ${out} --key KEY, where KEY is what colibri key prints here.`,
  ];
  return { verdict: 'done', lines, facts };
}

interface Contents extends Pick<BundleRequest, 'scope' | 'redact' | 'page'> {
  readonly checkpoint: string;
  readonly size: number;
  readonly root: Digest;
}

/** Streams, because a ledger can be larger than the memory. Returns the number of entries. */
async function write(db: Reader, file: string, contents: Contents): Promise<number> {
  const { scope, redact, page, checkpoint, size, root } = contents;
  const indexes = await selectEntries(db, scope, size);
  const ranges = indexes === undefined ? [] : subsetRanges(indexes, size);
  const count = indexes?.length ?? size;
  const head = {
    format: BUNDLE_FORMAT,
    checkpoint,
    scope: { ...scope },
    redacted: redact,
    entry_count: count,
    hash_count: ranges.length,
  };
  const lines = async function* (): AsyncGenerator<string> {
    const fold = indexes === undefined ? new WholeFold() : new SubsetFold(indexes, size);
    yield line(head);
    for await (const page of readEntries(db, { indexes, size, redact })) {
      for (const { entry } of page) fold.addLeaf(storedLeaf(entry));
      yield page.map(entryLine).join('');
    }
    const tree = new StoredTree(db, size);
    for (const range of ranges) {
      const [hash = ''] = await tree.hashesOf([range]);
      fold.addHash(hash);
      yield line(hash);
    }
    // A bundle that proves nothing is removed before anyone sees it.
    if (fold.count !== count || fold.root() !== root) throw notAsSigned('the entries are');
  };
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  if (page === undefined) await pipeline(lines, output);
  else await pipeline(lines, createGzip(), (packed: AsyncIterable<Buffer>) => embedInPage(packed, page), output);
  return count;
}

function entryLine(entry: BundledEntry): string {
  return line(entry as unknown as Json);
}

function line(value: Json): string {
  return `${canonicalize(value)}\n`;
}
