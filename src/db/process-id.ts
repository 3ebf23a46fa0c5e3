import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isUuid } from '../integrity/index.ts';
import type { Engine } from './database.ts';

/**
 * A stored process id is data from a file that anyone may have written, and on SQLite it becomes part of a path. Lower
 * case only: some file systems do not tell the cases apart.
 */
export function isProcessId(value: unknown): value is string {
  return isUuid(value);
}

export function assertProcessId(value: string): void {
  if (!isProcessId(value)) throw new Error('a process id must be a lower-case version 4 UUID');
}

/** Where a process runs, and which process started it. */
export interface Origin {
  readonly engine: Engine;
  readonly folder: string;
  readonly parentId: number;
}

const FOLDER = [0, 4] as const;
const PARENT = [4, 8] as const;

/**
 * A random UUID that starts with 16 bits of a hash of the folder and 16 bits of one of the parent process. That is
 * enough to recognize the successor of a process, and too little to learn a path from the log. All processes that use a
 * file run on one machine, whose host name can change with its network.
 */
export function createProcessId({ engine, folder, parentId }: Origin, hostName = hostname()): string {
  const machine = engine === 'sqlite' ? '' : hostName;
  const random = randomBytes(12);
  // Version and variant, RFC 9562 section 5.4.
  random.writeUInt8((random.readUInt8(2) & 0x0f) | 0x40, 2);
  random.writeUInt8((random.readUInt8(4) & 0x3f) | 0x80, 4);
  const hex = random.toString('hex');
  const origin = hashed(machine, folder) + hashed(machine, `${folder}\0${parentId}`);
  return [origin, hex.slice(0, 4), hex.slice(4, 8), hex.slice(8, 12), hex.slice(12)].join('-');
}

export function ranInSameFolder(left: string, right: string): boolean {
  return left.slice(...FOLDER) === right.slice(...FOLDER);
}

export function hadSameParent(left: string, right: string): boolean {
  return left.slice(...PARENT) === right.slice(...PARENT);
}

function hashed(machine: string, text: string): string {
  return createHash('sha256').update(`${machine}\0${text}`).digest('hex').slice(0, 4);
}
