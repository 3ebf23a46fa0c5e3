import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import { toEntryBytes } from '../../../test/support/ledger.ts';
import { naiveLeaf } from '../../../test/vectors/naive.ts';
import { saltedDigest, sha256 } from '../../integrity/index.ts';
import { type Hasher, hashHere, verifyInPasses } from '../hashing.ts';
import type { TreeNode } from '../log-tree.ts';
import type { DeferredDigests } from './deferred-digest.ts';
import { hashInWorker } from './hash-worker-client.ts';

const WORKER = new URL('../../../dist/hash-worker.js', import.meta.url);

const NO_PROGRESS = () => undefined;

/** A worker that runs the given code. */
function workerOf(code: string): URL {
  const path = join(tempFolder(), 'worker.mjs');
  writeFileSync(path, code);
  return pathToFileURL(path);
}

/** Responds only when a file `go` exists beside it. */
const RESPONDS_LATE = `
  import { existsSync } from 'node:fs';
  import { parentPort } from 'node:worker_threads';
  let waiting = 0;
  parentPort.on('message', () => { waiting += 1; });
  setInterval(() => {
    if (!existsSync(new URL('go', import.meta.url))) return;
    for (; waiting > 0; waiting -= 1) parentPort.postMessage({ areEqual: true, nodes: [] });
  }, 5);`;

/** All nodes in the order of their completion, and the tree. */
async function grow(hasher: Hasher, pages: readonly (readonly string[])[]) {
  const nodes: TreeNode[] = [];
  try {
    for (const page of pages) {
      await hasher.add(toEntryBytes(page));
      nodes.push(...hasher.takeNodes());
    }
    const tree = await hasher.finish();
    return { nodes: [...nodes, ...hasher.takeNodes()], tree, isRefuted: hasher.isRefuted };
  } finally {
    hasher.stop();
  }
}

async function growHereAndInWorker(pages: readonly (readonly string[])[]) {
  const job = { hashes: 0, size: pages.flat().length };
  return { here: await grow(hashHere(job), pages), inWorker: await grow(hashInWorker(WORKER, job), pages) };
}

describe('the tree of a log in a worker', () => {
  it('computes the same tree as the main thread, with all nodes in order', async () => {
    const pages = Array.from({ length: 60 }, (_, page) =>
      Array.from({ length: 100 + page }, (_entry, number) => `{"page":${page},"bird":"\u{1f426}","number":${number}}`),
    );
    const { here, inWorker } = await growHereAndInWorker(pages);
    expect(inWorker).toEqual(here);
    expect(here.nodes.map(({ level }) => level)).toContain(12);
    expect(here.tree?.tail).not.toBe('');
  });

  it('transfers nothing but the entries', async () => {
    const bytes = Buffer.alloc(100, '.');
    const ends = Uint32Array.of(bytes.write('\u007fone', 10, 'latin1'));
    const hasher = hashInWorker(WORKER, { hashes: 0, size: 1 });
    await hasher.add({ bytes: bytes.subarray(10, 14), ends });
    const tree = await hasher.finish().finally(() => hasher.stop());
    expect(tree?.root).toBe(naiveLeaf(Buffer.from('one')));
    expect(bytes.toString('latin1')).toBe(`${'.'.repeat(10)}\u007fone${'.'.repeat(86)}`);
  });

  it('computes the same tree for an empty log', async () => {
    const { here, inWorker } = await growHereAndInWorker([]);
    expect(inWorker).toEqual(here);
  });

  const respond = (response: string) =>
    `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage(${response}));`;
  for (const [name, code] of Object.entries({
    'cannot be loaded': 'this is no program',
    'throws at its first request':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('out of order'); });",
    'exits at once': '',
    'exits at its first request':
      "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => process.exit(0));",
    'throws undefined':
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw undefined; });",
    'is of another version and responds with undefined': respond(''),
    'is of another version and responds without nodes': respond('{ areEqual: true }'),
    'is of another version and responds without a verdict': respond('{ nodes: [], tree: {} }'),
    'is of another version and responds with other nodes': respond('{ areEqual: true, nodes: 7 }'),
    'never responds with a tree': respond('{ areEqual: true, nodes: [] }'),
  }))
    it(`refutes the tree when the worker ${name}`, async () => {
      const pages = Array.from({ length: 40 }, () => ['one', 'two']);
      const hasher = hashInWorker(workerOf(code), { hashes: 0, size: 80 });
      expect(await grow(hasher, pages)).toMatchObject({ tree: undefined, isRefuted: true });
    });
});

describe('digests in a worker', () => {
  const SALT = '0123456789abcdef'.repeat(2);
  const defer = (content: string, hashed = content): DeferredDigests => ({
    label: 'arguments',
    bytes: Buffer.from(`${SALT}\u001e${content}`),
    expected: saltedDigest('arguments', SALT, hashed),
  });
  const CONTENTS = Array.from({ length: 200 }, (_, number) => `{"at":${number},"bird":"\u{1f426}"}`);

  const BETWEEN: Readonly<Record<string, (hasher: Hasher) => Promise<void>>> = {
    'sent with entries': (hasher) => hasher.add(toEntryBytes(['an entry'])),
    'sent without entries': (hasher) => hasher.drain(),
    'all sent at the end': () => Promise.resolve(),
  };

  for (const [name, goOn] of Object.entries(BETWEEN)) {
    const check = (digests: readonly DeferredDigests[]) => {
      const job = { hashes: 0, size: 0 };
      const start = hashInWorker.bind(undefined, WORKER);
      let passes = 0;
      return verifyInPasses(job, start, NO_PROGRESS, async ({ hasher }) => {
        passes += 1;
        const different: number[] = [];
        for (const [number, deferred] of digests.entries()) {
          const verdict = hasher.compare(
            'links' in deferred ? deferred : { ...deferred, bytes: Buffer.from(deferred.bytes) },
          );
          if (verdict === 'different') different.push(number);
          await goOn(hasher);
        }
        await hasher.finish();
        return { passes, different };
      });
    };

    it(`compares equal digests in one pass, ${name}`, async () => {
      expect(await check(CONTENTS.map((content) => defer(content)))).toEqual({ passes: 1, different: [] });
    });

    it(`compares links in one pass, and again on the main thread when one differs, ${name}`, async () => {
      const links = (other: string) => ({
        links: ['a link', 'another'],
        areAscii: true,
        expected: ['a link', other].map((text) => sha256(text)),
      });
      const equal = CONTENTS.map(() => links('another'));
      expect(await check(equal)).toEqual({ passes: 1, different: [] });
      expect(await check(equal.with(100, links('forged')))).toEqual({ passes: 2, different: [100] });
    });

    for (const wrong of [0, 100, 199])
      it(`compares again on the main thread when digest ${wrong} differs, ${name}`, async () => {
        const digests = CONTENTS.map((content, number) => defer(content, number === wrong ? '{}' : content));
        expect(await check(digests)).toEqual({ passes: 2, different: [wrong] });
      });
  }

  it('does not hide an error of the verification itself', async () => {
    let passes = 0;
    const start = hashInWorker.bind(undefined, WORKER);
    const verify = verifyInPasses({ hashes: 0, size: 0 }, start, NO_PROGRESS, async () => {
      passes += 1;
      throw new RangeError('the disk is gone');
    });
    await expect(verify).rejects.toThrow('the disk is gone');
    expect(passes).toBe(1);
  });

  it('make the caller wait while the backlog is too long', async () => {
    const content = JSON.stringify('x'.repeat(2 ** 20));
    const worker = workerOf(RESPONDS_LATE);
    const hasher = hashInWorker(worker, { hashes: 0, size: 0 });
    try {
      for (let sent = 0; sent < 16; sent += 1) {
        hasher.compare(defer(content));
        if (sent < 15) await hasher.drain();
      }
      let isWaiting = true;
      const drained = hasher.drain().then(() => {
        isWaiting = false;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isWaiting).toBe(true);
      writeFileSync(new URL('go', worker), '');
      await drained;
    } finally {
      hasher.stop();
    }
  });
});

describe('a verification in passes', () => {
  const JOB = { hashes: 0, size: 0 };

  it('stops the hasher, however the pass ends', async () => {
    const stopped: string[] = [];
    const start = (name: string) => () => ({ ...hashHere(JOB), stop: () => stopped.push(name) });
    await verifyInPasses(JOB, start('done'), NO_PROGRESS, async () => 'a report');
    const failing = verifyInPasses(JOB, start('failed'), NO_PROGRESS, () => Promise.reject(new Error('disk is gone')));
    await expect(failing).rejects.toThrow('disk is gone');
    const refuted = () => ({ ...start('refuted')(), isRefuted: true });
    expect(await verifyInPasses(JOB, refuted, NO_PROGRESS, async ({ hasher }) => hasher.isRefuted)).toBe(false);
    expect(stopped).toEqual(['done', 'failed', 'refuted']);
  });

  it('continues its progress in the second pass', async () => {
    const seen: string[] = [];
    const start = () => ({ ...hashHere(JOB), isRefuted: true });
    await verifyInPasses(
      JOB,
      start,
      (done, total) => seen.push(`${done}/${total}`),
      async ({ progress }) => {
        for (const done of [1, 2, 3]) progress(done, 3);
      },
    );
    expect(seen).toEqual(['1/3', '2/3', '3/3', '4/6', '5/6', '6/6']);
  });
});
