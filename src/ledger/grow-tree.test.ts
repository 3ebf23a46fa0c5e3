import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { naiveLeaf } from '../../test/support/naive-merkle.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { growHere, growInThread, ThreadFailure, type TreeGrower } from './grow-tree.ts';
import type { EntryBytes, TreeNode } from './log-tree.ts';

const THREAD = new URL('../../dist/tree-thread.js', import.meta.url);

/** Entries as a page of the store has them: each behind a byte that may be anything. */
function toBytes(entries: readonly string[]): EntryBytes {
  let end = 0;
  const ends = Uint32Array.from(entries, (entry) => (end += 1 + Buffer.byteLength(entry)));
  return { bytes: Buffer.from(entries.map((entry) => `\u007f${entry}`).join('')), ends };
}

async function grow(grower: TreeGrower, pages: readonly (readonly string[])[]) {
  for (const page of pages) await grower.add(toBytes(page));
  return grower.finish().finally(() => grower.stop());
}

async function growBothWays(pages: readonly (readonly string[])[]) {
  const size = pages.flat().length;
  const [here, there]: [TreeNode[], TreeNode[]] = [[], []];
  const grownHere = await grow(
    growHere(size, (nodes) => here.push(...nodes)),
    pages,
  );
  const grownThere = await grow(
    growInThread(THREAD, size, (nodes) => there.push(...nodes)),
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
    const grower = growInThread(THREAD, 1, () => undefined);
    await grower.add({ bytes: bytes.subarray(10, 14), ends });
    const { root } = await grower.finish().finally(() => grower.stop());
    expect(root).toBe(naiveLeaf(Buffer.from('one')));
    expect(bytes.toString('latin1')).toBe(`${'.'.repeat(10)}\u007fone${'.'.repeat(86)}`);
  });

  it('of nothing is the same', async () => {
    const { here, there } = await growBothWays([]);
    expect(there).toEqual(here);
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
          growInThread(pathToFileURL(path), 80, () => undefined),
          pages,
        ),
      ).rejects.toThrow(ThreadFailure);
    });
});
