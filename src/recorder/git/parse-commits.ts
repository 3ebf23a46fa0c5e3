import { canonicalize, type Json } from '../../integrity/canonical-json.ts';
import { type Entry, saltedDigest } from '../../integrity/entry.ts';
import { entryDefect } from '../../integrity/entry-grammar.ts';
import { type Fields, listOf, objectDefect, oneOf, orNull, text } from '../../integrity/forms.ts';
import { commitKey, observedContentDefect, RECORDER_PREFIX } from '../../integrity/observed-grammar.ts';
import { parseJson } from '../../integrity/parse-json.ts';
import { isTime } from '../../integrity/primitives/iso-time.ts';
import type { Observation } from '../record.ts';
import { MAX_COMMITS, MAX_TASKS, type SpooledCommit, type SpooledCommits } from './spooled-commits.ts';

/** A commit that is ready to be recorded, and how to find the task that it belongs to. */
export interface CommitObservation {
  readonly observation: Observation;
  readonly tasks: readonly string[];
  readonly isDecided: boolean;
}

const boolean = { says: 'true or false', holds: (value: unknown) => typeof value === 'boolean' };
const time = { says: 'a time', holds: isTime };
const COMMIT: Fields = {
  sha: text,
  tree: text,
  parents: listOf(text, 64),
  rewrites: orNull(text),
  tasks: listOf(text, MAX_TASKS),
  is_decided: boolean,
  salt: text,
  content: text,
};
const commit = { says: 'a commit', holds: (value: unknown) => objectDefect(COMMIT, value) === undefined };
const FILE: Fields = { v: oneOf([1]), at: time, folder: text, commits: listOf(commit, MAX_COMMITS) };

export interface CommitReport extends Pick<SpooledCommits, 'at' | 'folder'> {
  readonly commits: readonly CommitObservation[];
}

/** Undefined unless the text is that of a hook and each entry is one of the grammar. */
export function parseCommits(spooled: string): CommitReport | undefined {
  try {
    const value = parseJson(spooled) as Json;
    if (objectDefect(FILE, value) !== undefined || canonicalize(value) !== spooled) return undefined;
    const { at, folder, commits } = value as unknown as SpooledCommits;
    const found = commits.flatMap((one) => toObservation(one, at) ?? []);
    return found.length < commits.length ? undefined : { at, folder, commits: found };
  } catch {
    return undefined;
  }
}

function toObservation(
  { sha, tree, parents, rewrites, tasks, is_decided, salt, content }: SpooledCommit,
  at: string,
): CommitObservation | undefined {
  const entry: Entry = {
    v: 1,
    kind: 'observed.commit',
    at,
    actor: `${RECORDER_PREFIX}git`,
    key: commitKey(sha, rewrites ?? undefined),
    sha,
    tree,
    parents: [...parents],
    ...(rewrites !== null && { rewrites }),
    content: saltedDigest('observed-content', salt, content),
  };
  if (entryDefect(entry) !== undefined || observedContentDefect('observed.commit', content) !== undefined)
    return undefined;
  return { observation: { entry, salt, content }, tasks, isDecided: is_decided };
}
