import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { naiveLeaf } from '../../test/support/naive-merkle.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { saltedDigest } from '../integrity/index.ts';
import type { Contents } from './contents.ts';
import { type Hasher, hashHere, hashInThread, StartOver } from './hasher.ts';
import type { EntryBytes, TreeNode } from './log-tree.ts';

const THREAD = new URL('../../dist/hash-thread.js', import.meta.url);

/** Entries as a page of the store has them: each behind a byte that may be anything. */
function toBytes(entries: readonly string[]): EntryBytes {
  let end = 0;
  const ends = Uint32Array.from(entries, (entry) => (end += 1 + Buffer.byteLength(entry)));
  return { bytes: Buffer.from(entries.map((entry) => `\u007f${entry}`).join('')), ends };
}

async function grow(hasher: Hasher, pages: readonly (readonly string[])[]) {
  for (const page of pages) await hasher.add(toBytes(page));
  return hasher.finish().finally(() => hasher.stop());
}

async function growBothWays(pages: readonly (readonly string[])[]) {
  const size = pages.flat().length;
  const [here, there]: [TreeNode[], TreeNode[]] = [[], []];
  const grownHere = await grow(
    hashHere(size, (nodes) => here.push(...nodes)),
    pages,
  );
  const grownThere = await grow(
    hashInThread(THREAD, size, (nodes) => there.push(...nodes)),
    pages,
  );
  return { here: { nodes: here, ...grownHere }, there: { nodes: there, ...grownThere } };
}

describe('the tree of a log in a thread', () => {
  it('is the same, nodes in their order and all of them before the end', async () => {
    const pages = Array.from({ length: 60 }, (_, page) =>
      Array.from({ length: 100 + page }, (_entry, number) => `{"page":${page},"bird":"\u{1f426}","number":${number}}`),
    );
    const { here, there } = await growBothWays(pages);
    expect(there).toEqual(here);
    expect(here.nodes.map(({ level }) => level)).toContain(12);
    expect(here.tail).not.toBe('');
  });

  it('takes nothing else with it to the thread than the entries', async () => {
    const bytes = Buffer.alloc(100, '.');
    const ends = Uint32Array.of(bytes.write('\u007fone', 10, 'latin1'));
    const hasher = hashInThread(THREAD, 1, () => undefined);
    await hasher.add({ bytes: bytes.subarray(10, 14), ends });
    const { root } = await hasher.finish().finally(() => hasher.stop());
    expect(root).toBe(naiveLeaf(Buffer.from('one')));
    expect(bytes.toString('latin1')).toBe(`${'.'.repeat(10)}\u007fone${'.'.repeat(86)}`);
  });

  it('of nothing is the same', async () => {
    const { here, there } = await growBothWays([]);
    expect(there).toEqual(here);
  });

  const SALT = '0123456789abcdef'.repeat(2);
  const claimOf = (content: string, claimed: string): Contents => ({
    label: 'arguments',
    bytes: Buffer.from(`${SALT}\u001e${content}`),
    claimed: saltedDigest('arguments', SALT, claimed),
  });

  async function hashWith(contents: readonly Contents[]): Promise<void> {
    const hasher = hashInThread(THREAD, contents.length, () => undefined);
    try {
      for (const content of contents) {
        await hasher.add(toBytes(['an entry']));
        expect(hasher.areAsClaimed(content)).toBe(true);
      }
      await hasher.finish();
    } finally {
      hasher.stop();
    }
  }

  it('comes with contents that are as claimed', async () => {
    await hashWith(['{}', '{"bird":"\u{1f426}"}', '{"a":1}'].map((content) => claimOf(content, content)));
  });

  for (const [name, wrong] of Object.entries({ first: 0, middle: 100, last: 199 }))
    it(`has to be grown again when the ${name} content is not as claimed`, async () => {
      const contents = Array.from({ length: 200 }, (_, place) =>
        claimOf(`{"at":${place}}`, place === wrong ? '{}' : `{"at":${place}}`),
      );
      await expect(hashWith(contents)).rejects.toThrow(StartOver);
    });

  for (const [name, code] of Object.entries({
    'cannot be loaded': 'this is no program',
    'dies at its first page':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('out of order'); });",
    'ends without a word': '',
    'ends at its first page':
      "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => process.exit(0));",
  }))
    it(`ends with an error where the thread ${name}`, async () => {
      const path = join(tempFolder(), 'thread.mjs');
      writeFileSync(path, code);
      const pages = Array.from({ length: 40 }, () => ['one', 'two']);
      await expect(
        grow(
          hashInThread(pathToFileURL(path), 80, () => undefined),
          pages,
        ),
      ).rejects.toThrow(StartOver);
    });
});
