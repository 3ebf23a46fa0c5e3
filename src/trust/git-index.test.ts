import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { type IndexOptions, writeExtension, writeIndex } from '../../test/trust/fixtures/git-index.ts';
import { foldPath, NotAnIndex, scanIndex } from './git-index.ts';

const LEDGER = '.colibri/colibri.db';
const LONG = `${'deep/'.repeat(900)}file`;
const OTHERS = ['.colibri/a', '.colibri/colibri.d', '.colibri/colibri.dba', 'README.md', 'a/.colibri/colibri.db', LONG];

const FORMATS: readonly IndexOptions[] = [2, 3, 4].flatMap((version) =>
  (['sha1', 'sha256'] as const).map((hash) => ({ version: version as 2 | 3 | 4, hash })),
);

function isTracked(index: Buffer, path = LEDGER): boolean {
  return scanIndex(index, new Set([foldPath(path)])).isTracked;
}

describe('the index of a repository', () => {
  for (const options of FORMATS) {
    const name = `version ${options.version} with ${options.hash}`;
    promiseTest('clone/tracked', `${name}: a file is found exactly where it is listed`, () => {
      expect(isTracked(writeIndex([...OTHERS, LEDGER], options))).toBe(true);
      expect(isTracked(writeIndex([LEDGER], options))).toBe(true);
      expect(isTracked(writeIndex(OTHERS, options))).toBe(false);
      expect(isTracked(writeIndex([], options))).toBe(false);
      for (const path of OTHERS) expect(isTracked(writeIndex(OTHERS, options), path)).toBe(true);
    });

    promiseTest('clone/tracked', `${name}: names that a file system may take for the same are found`, () => {
      for (const spelling of ['.Colibri/COLIBRI.DB', '.COLIBRI/colibri.db'])
        expect(isTracked(writeIndex([...OTHERS, spelling], options))).toBe(true);
      expect(isTracked(writeIndex(['a\u0308/colibri.db'], options), 'Ä/colibri.db')).toBe(true);
    });

    it(`${name}: passes over the extensions that git adds`, () => {
      const extensions = Buffer.concat([
        writeExtension('TREE', Buffer.alloc(33)),
        writeExtension('sdir', Buffer.alloc(0)),
      ]);
      expect(isTracked(writeIndex([...OTHERS, LEDGER], { ...options, extensions }))).toBe(true);
      expect(isTracked(writeIndex(OTHERS, { ...options, extensions }))).toBe(false);
    });

    it(`${name}: names the shared index of a split one`, () => {
      const hash = Buffer.alloc(options.hash === 'sha1' ? 20 : 32, 0xab);
      const split = (link: Buffer) => writeIndex(OTHERS, { ...options, extensions: writeExtension('link', link) });
      expect(scanIndex(split(hash), new Set()).sharedIndex).toBe(hash.toString('hex'));
      expect(scanIndex(split(Buffer.alloc(hash.length)), new Set()).sharedIndex).toBeUndefined();
    });
  }
});

describe('a file that is not an index', () => {
  const whole = writeIndex([...OTHERS, LEDGER]);
  const MALFORMED: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['an empty file', Buffer.alloc(0)],
    ['a text', Buffer.from('not an index, and longer than its header would be')],
    ['a header alone', whole.subarray(0, 12)],
    ['version 1', withNumber(whole, 4, 1)],
    ['version 5', withNumber(whole, 4, 5)],
    ['more entries than there are', withNumber(whole, 8, 1000)],
    ['four billion entries', withNumber(whole, 8, 0xffffffff)],
    ['fewer entries than there are', withNumber(whole, 8, 1)],
    ['an unknown extension that matters', writeIndex(OTHERS, { extensions: writeExtension('evil', Buffer.alloc(4)) })],
    ['an extension without an end', writeIndex(OTHERS, { extensions: Buffer.from('TREE\xff\xff\xff\xff', 'latin1') })],
    ['half an extension', writeIndex(OTHERS, { extensions: Buffer.from('TREE') })],
    ['a prefix longer than the name before', withByte(writeIndex([LEDGER], { version: 4 }), 76, 0x7f)],
    ['a prefix that never ends', writeIndex([LEDGER], { version: 4 }).fill(0xff, 76)],
  ];
  for (const [name, bytes] of MALFORMED)
    promiseTest('clone/tracked', `${name} is refused`, () => {
      expect(() => scanIndex(bytes, new Set([LEDGER]))).toThrow(NotAnIndex);
    });

  for (const version of [2, 3, 4] as const)
    promiseTest('clone/tracked', `version ${version} that is cut anywhere is refused, or not called untracked`, () => {
      const index = writeIndex(['a', LEDGER, 'b'], { version });
      for (let length = 0; length < index.length; length += 1) {
        const verdict = verdictOf(index.subarray(0, length));
        expect([length, verdict]).not.toEqual([length, false]);
      }
    });
});

function verdictOf(bytes: Buffer): boolean | 'refused' {
  try {
    return isTracked(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(NotAnIndex);
    return 'refused';
  }
}

function withNumber(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(value, at);
  return copy;
}

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
}
