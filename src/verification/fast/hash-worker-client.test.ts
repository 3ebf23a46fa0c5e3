import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toEntryBytes } from '../../../test/support/entry-bytes.ts';
import { naiveLeaf } from '../../../test/support/naive-merkle.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { saltedDigest } from '../../integrity/index.ts';
import type { Claim } from './deferred-digest.ts';
import { type Hasher, hashHere, hashInThread, VerificationRestart, withHasher } from './hash-worker-client.ts';
import type { TreeNode } from './log-tree.ts';

const THREAD = new URL('../../../dist/hash-worker.js', import.meta.url);

const NO_PROGRESS = () => undefined;

/** A thread of our own making. */
function threadOf(code: string): URL {
  const path = join(tempFolder(), 'thread.mjs');
  writeFileSync(path, code);
  return pathToFileURL(path);
}

/** Says nothing until there is a file `go` beside it. */
const ANSWERS_WHEN_TOLD = `
  import { existsSync } from 'node:fs';
  import { parentPort } from 'node:worker_threads';
  let waiting = 0;
  parentPort.on('message', () => { waiting += 1; });
  setInterval(() => {
    if (!existsSync(new URL('go', import.meta.url))) return;
    for (; waiting > 0; waiting -= 1) parentPort.postMessage({ areTrue: true, nodes: [] });
  }, 5);`;

/** All nodes in the order in which they were handed out, and the tree. */
async function grow(hasher: Hasher, pages: readonly (readonly string[])[]) {
  const nodes: TreeNode[] = [];
  try {
    for (const page of pages) {
      await hasher.add(toEntryBytes(page));
      nodes.push(...hasher.takeNodes());
    }
    const tree = await hasher.finish();
    return { nodes: [...nodes, ...hasher.takeNodes()], ...tree };
  } finally {
    hasher.stop();
  }
}

async function growBothWays(pages: readonly (readonly string[])[]) {
  const job = { hashes: 0, size: pages.flat().length };
  return { here: await grow(hashHere(job), pages), there: await grow(hashInThread(THREAD, job), pages) };
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
    const hasher = hashInThread(THREAD, { hashes: 0, size: 1 });
    await hasher.add({ bytes: bytes.subarray(10, 14), ends });
    const { root } = await hasher.finish().finally(() => hasher.stop());
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
    'throws nothing':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw undefined; });",
    'is of another version and says nothing':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage());",
    'is of another version and says less':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage({ areTrue: true }));",
    'is of another version and does not say whether claims hold':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage({ nodes: [], tree: {} }));",
    'is of another version and says something else':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage({ areTrue: true, nodes: 7 }));",
    'never says what became of the tree':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage({ areTrue: true, nodes: [] }));",
  }))
    it(`ends with an error where the thread ${name}`, async () => {
      const pages = Array.from({ length: 40 }, () => ['one', 'two']);
      const hasher = hashInThread(threadOf(code), { hashes: 0, size: 80 });
      await expect(grow(hasher, pages)).rejects.toThrow(VerificationRestart);
    });
});

describe('claims in a thread', () => {
  const SALT = '0123456789abcdef'.repeat(2);
  const claimOf = (content: string, claimed = content): Claim => ({
    label: 'arguments',
    bytes: Buffer.from(`${SALT}\u001e${content}`),
    claimed: saltedDigest('arguments', SALT, claimed),
  });
  const CONTENTS = Array.from({ length: 200 }, (_, place) => `{"at":${place},"bird":"\u{1f426}"}`);

  const WAYS: Readonly<Record<string, (hasher: Hasher) => Promise<void>>> = {
    'with entries': (hasher) => hasher.add(toEntryBytes(['an entry'])),
    'without entries': (hasher) => hasher.pause(),
    'all at the end': () => Promise.resolve(),
  };

  for (const [name, goOn] of Object.entries(WAYS)) {
    const check = (claims: readonly Claim[]) => {
      const job = { hashes: 0, size: 0 };
      const start = hashInThread.bind(undefined, THREAD);
      let times = 0;
      return withHasher(job, start, NO_PROGRESS, async ({ hasher }) => {
        times += 1;
        const verdicts: boolean[] = [];
        for (const claim of claims) {
          verdicts.push(hasher.holds({ ...claim, bytes: Buffer.from(claim.bytes) }));
          await goOn(hasher);
        }
        await hasher.finish();
        return { times, wrong: verdicts.flatMap((isTrue, place) => (isTrue ? [] : [place])) };
      });
    };

    it(`hold, ${name}`, async () => {
      expect(await check(CONTENTS.map((content) => claimOf(content)))).toEqual({ times: 1, wrong: [] });
    });

    for (const wrong of [0, 100, 199])
      it(`are gone through again without it when number ${wrong} does not hold, ${name}`, async () => {
        const claims = CONTENTS.map((content, place) => claimOf(content, place === wrong ? '{}' : content));
        expect(await check(claims)).toEqual({ times: 2, wrong: [wrong] });
      });
  }

  it('and another error is not taken for one of the thread', async () => {
    let times = 0;
    const start = hashInThread.bind(undefined, THREAD);
    const verify = withHasher({ hashes: 0, size: 0 }, start, NO_PROGRESS, async () => {
      times += 1;
      throw new RangeError('the disk is gone');
    });
    await expect(verify).rejects.toThrow('the disk is gone');
    expect(times).toBe(1);
  });

  it('keep who is too quick waiting until the thread has caught up', async () => {
    const content = JSON.stringify('x'.repeat(2 ** 20));
    const thread = threadOf(ANSWERS_WHEN_TOLD);
    const hasher = hashInThread(thread, { hashes: 0, size: 0 });
    try {
      for (let told = 0; told < 16; told += 1) {
        hasher.holds(claimOf(content));
        if (told < 15) await hasher.pause();
      }
      let isWaiting = true;
      const pause = hasher.pause().then(() => {
        isWaiting = false;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isWaiting).toBe(true);
      writeFileSync(new URL('go', thread), '');
      await pause;
    } finally {
      hasher.stop();
    }
  });
});

describe('a verification with a hasher', () => {
  const JOB = { hashes: 0, size: 0 };
  const giveUp = async () => {
    throw new VerificationRestart('on purpose');
  };

  it('stops it at the end, however it ends', async () => {
    const stopped: string[] = [];
    const start = (name: string) => () => ({ ...hashHere(JOB), stop: () => stopped.push(name) });
    await withHasher(JOB, start('well'), NO_PROGRESS, async () => 'a report');
    const failing = withHasher(JOB, start('badly'), NO_PROGRESS, () => Promise.reject(new Error('the disk is gone')));
    await expect(failing).rejects.toThrow('the disk is gone');
    await withHasher(
      JOB,
      () => ({ ...start('over')(), finish: giveUp }),
      NO_PROGRESS,
      ({ hasher }) => hasher.finish(),
    );
    expect(stopped).toEqual(['well', 'badly', 'over']);
  });

  it('that starts over goes on with its progress from where it was', async () => {
    const seen: string[] = [];
    const start = () => ({ ...hashHere(JOB), finish: giveUp });
    await withHasher(
      JOB,
      start,
      (done, total) => seen.push(`${done}/${total}`),
      async ({ hasher, progress }) => {
        for (const done of [1, 2, 3]) progress(done, 3);
        return hasher.finish();
      },
    );
    expect(seen).toEqual(['1/3', '2/3', '3/3', '4/6', '5/6', '6/6']);
  });
});
