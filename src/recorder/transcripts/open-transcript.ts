import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isOwnedByOther } from '../../db/file-owner.ts';

/** The path cannot be trusted or read; the message completes "the transcript …". */
export class TranscriptRefused extends Error {}

/** Windows has neither flag. A pipe without a writer must not keep the reader waiting. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Opens the file that a hook event names. Events can be forged by programs of the same user, and a path can come from a
 * configuration in a cloned repository: only regular files of this user below the home folder are read.
 */
export async function openTranscript(path: string, home: string | undefined): Promise<FileHandle> {
  if (!isAbsolute(path) || path.includes('\0')) throw new TranscriptRefused('has no absolute path');
  if (home === undefined) throw new TranscriptRefused('is outside of the home folder');
  try {
    await assertBelow(path, home);
    const handle = await open(path, READ);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new TranscriptRefused('is not a regular file');
      if (isOwnedByOther(stats)) throw new TranscriptRefused('belongs to another user');
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw error instanceof TranscriptRefused ? error : new TranscriptRefused(reasonOf(error));
  }
}

const MAX_SUBAGENTS = 500;
const SUBAGENT = /^agent-([\w-]{1,128})\.jsonl$/;

export interface SubagentTranscript {
  readonly agent: string;
  readonly path: string;
}

/** Claude Code keeps the transcripts of sub-agents in a folder beside that of their session. */
export async function listSubagents(path: string): Promise<SubagentTranscript[]> {
  const folder = join(path.replace(/\.jsonl$/, ''), 'subagents');
  const names = path.endsWith('.jsonl') ? await readdir(folder).catch(() => []) : [];
  const found = names.toSorted().flatMap((name) => {
    const agent = SUBAGENT.exec(name)?.[1];
    return agent === undefined ? [] : [{ agent, path: join(folder, name) }];
  });
  return found.slice(0, MAX_SUBAGENTS);
}

async function assertBelow(path: string, home: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) throw new TranscriptRefused('is a symbolic link');
  const relativePath = relative(await realpath(home), await realpath(resolve(path)));
  const isBelow = relativePath !== '' && !isAbsolute(relativePath) && relativePath.split(sep)[0] !== '..';
  if (!isBelow) throw new TranscriptRefused('is outside of the home folder');
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'ELOOP') return 'is a symbolic link';
  return `cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
