import type { Liveness, Reader } from '../../db/database.ts';
import { createProcessId, ranInSameFolder } from '../../db/process-id.ts';
import { isOnlyWorkTree } from '../../git/main-work-tree.ts';
import { formatTaskId } from '../../ids.ts';
import { parseEntry } from '../../integrity/index.ts';
import { listProcesses } from '../../ledger/presence/signs.ts';

interface WorkTree {
  readonly folder: string;
  /** The actor of the person who commits; people have no server process that shows liveness. */
  readonly person?: string | undefined;
  /** Claims that were made later do not count. */
  readonly at?: string | undefined;
}

interface HeldRow {
  readonly task_no: number;
  readonly holder: string;
  readonly claimed: string | null;
}

/**
 * Of all agents, those that called last: abandoned claims, which stay until another agent takes them over, are many.
 */
const MAX_HOLDERS = 100;

/**
 * The task that a commit in this work tree belongs to: the only one that a live agent of the work tree holds. In a
 * repository with one work tree, the agents of subfolders, and the person who commits, belong to it too.
 */
export async function findTaskOfWorkTree(
  reader: Reader,
  liveness: Liveness,
  { folder, person, at }: WorkTree,
): Promise<string | undefined> {
  const rows = await reader.query<HeldRow>(
    `SELECT task_no, holder, entry AS claimed
     FROM (SELECT actor, MAX(sequence_no) AS last FROM presence GROUP BY actor ORDER BY last DESC LIMIT ${MAX_HOLDERS}) AS signs
     JOIN tasks ON tasks.holder = signs.actor
     LEFT JOIN ledger_entries ON ledger_entries.idx = claim_idx ORDER BY task_no`,
  );
  const held = rows.filter(({ claimed }) => at === undefined || (parseEntry(claimed ?? '')?.at ?? at) <= at);
  const here: number[] = [];
  const elsewhere: number[] = [];
  const locations = new Map<string, HolderLocation>();
  for (const { task_no, holder } of held) {
    const location = locations.get(holder) ?? (await locateHolder(reader, liveness, holder, { folder, person }));
    locations.set(holder, location);
    if (location === 'here') here.push(task_no);
    if (location === 'elsewhere') elsewhere.push(task_no);
  }
  const candidates = here.length === 0 && isOnlyWorkTree(folder) ? elsewhere : here;
  const [only, ...others] = candidates;
  return only === undefined || others.length > 0 ? undefined : formatTaskId(only);
}

type HolderLocation = 'here' | 'elsewhere' | 'gone';

async function locateHolder(
  reader: Reader,
  liveness: Liveness,
  holder: string,
  workTree: WorkTree,
): Promise<HolderLocation> {
  if (holder === workTree.person) return 'elsewhere';
  const own = createProcessId({ engine: reader.engine, folder: workTree.folder, parentId: 0 });
  let location: HolderLocation = 'gone';
  for (const processId of await listProcesses(reader, holder)) {
    if (!(await liveness.isAlive(processId))) continue;
    if (ranInSameFolder(processId, own)) return 'here';
    location = 'elsewhere';
  }
  return location;
}
