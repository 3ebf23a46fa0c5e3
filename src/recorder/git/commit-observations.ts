import type { Database } from '../../db/database.ts';
import type { Observation } from '../record.ts';
import { type CommitObservation, parseCommits } from './parse-commits.ts';
import { findTaskOfWorkTree } from './work-tree-task.ts';

/** The commits of a spool file with their tasks; undefined if no hook of git could have written the text. */
export async function toCommitObservations(database: Database, text: string): Promise<Observation[] | undefined> {
  const report = parseCommits(text);
  if (report === undefined) return undefined;
  const { commits, folder, at } = report;
  const isOpen = commits.some(({ tasks, isDecided }) => tasks.length === 0 && !isDecided);
  const found = isOpen
    ? await database.read((reader) => findTaskOfWorkTree(reader, database, { folder, at }))
    : undefined;
  return commits.map((commit) => withTask(commit, found));
}

/** The task that the trailers name; without trailers, the one of the work tree. */
function withTask({ observation, tasks, isDecided }: CommitObservation, found: string | undefined): Observation {
  const [taskId, ...others] = tasks.length > 0 || isDecided ? tasks : [found];
  return taskId === undefined || others.length > 0 ? observation : { ...observation, claim: { taskId, isHeld: true } };
}
