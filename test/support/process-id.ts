import { createHash } from 'node:crypto';

/** A well-formed process id for a name: the same one in every process of a test. */
export function processIdOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const ID = processIdOf('someone');

/** Process ids that no server makes and a tampered ledger can hold. */
export const ILL_FORMED_PROCESS_IDS: readonly (readonly [name: string, id: string])[] = [
  ['an empty text', ''],
  ['a path out of the folder', '../../victim'],
  ['a path out of the folder behind a folder that exists', 'sub/../../victim'],
  ['an absolute path', '/tmp/victim'],
  ['a path with backslashes', '..\\..\\victim'],
  ['a NUL', `${ID}\0`],
  ['a NUL before more text', `${ID.slice(0, 8)}\0${ID.slice(8)}`],
  ['a very long text', 'a'.repeat(100_000)],
  ['upper case', ID.toUpperCase()],
  ['a line break at the end', `${ID}\n`],
  ['a blank before it', ` ${ID}`],
  ['another version of UUID', `${ID.slice(0, 14)}1${ID.slice(15)}`],
  ['no hyphens', ID.replaceAll('-', '')],
  ['a UUID and something after it', `${ID}/../../victim`],
  ['a name', 'somebody'],
  ['digits of another script', ID.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)))],
];
