import { findTracking } from '../trust/find-tracked.ts';
import { listSpool, SpoolRefused } from './spool.ts';

/**
 * The names of the files that hooks wrote here, oldest first. Refuses all of them if git tracks one: modes alone do not
 * tell, because a clone that is made with a strict umask has private files. Reads git's index, so no hook calls it.
 */
export function listOwnSpool(folder: string): string[] {
  const names = listSpool(folder);
  const tracking = names.length === 0 ? 'untracked' : findTracking(folder, names);
  if (tracking === 'tracked')
    throw new SpoolRefused(`${folder} has files that git tracks: its events may have come with a clone`);
  if (tracking === 'unknown')
    throw new SpoolRefused(`${folder} may have come with a clone: the index of the repository cannot be read`);
  return names;
}
