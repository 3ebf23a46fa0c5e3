import { createHash } from 'node:crypto';
import { formatSessionId, formatTaskId } from '../../../ids.ts';

/** Paths of notes in the vault. None is made of data: names of agents are reduced to harmless characters. */

export const FOLDERS = ['tasks', 'sessions', 'agents', 'days'] as const;
export const INDEX_NOTE = 'Colibri.md';

export const taskPath = (taskNo: number): string => `tasks/${formatTaskId(taskNo)}.md`;
export const sessionPath = (sessionNo: number): string => `sessions/${formatSessionId(sessionNo)}.md`;
export const agentPath = (name: string): string => `agents/${agentStem(name)}.md`;
export const dayPath = (day: string): string => `days/${day}.md`;

const MAX_STEM = 64;
const HASH_LENGTH = 12;
/** Names that Windows reserves for devices, whatever the extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;
/** Names that could be the result of adding a hash to another name. */
const HASHED = new RegExp(`-[0-9a-f]{${HASH_LENGTH}}$`);

/**
 * "claude-code#2" becomes "claude-code+2" and "person:ada" becomes "person@ada". Every other name that is not plain
 * lower case gets a hash, so that two names differ on file systems that ignore case.
 */
function agentStem(name: string): string {
  const simple = name.replaceAll('#', '+').replaceAll(':', '@');
  const isPlain = /^[a-z0-9_][a-z0-9_.+@-]*$/.test(simple) && !/[+@]/.test(name) && !simple.endsWith('.');
  if (isPlain && simple.length <= MAX_STEM && !RESERVED.test(simple) && !HASHED.test(simple)) return simple;
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_STEM - HASH_LENGTH - 1)
    .replaceAll(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${readable || 'agent'}-${hash}`;
}
