import type { Reader, Transaction } from '../../../db/database.ts';
import { canonicalize, parseJson, type REVIEW_POLICIES, saltedDigest } from '../../../integrity/index.ts';
import { append } from '../../../ledger/append.ts';
import { createSalt } from '../../../ledger/salt.ts';

export type ReviewPolicy = (typeof REVIEW_POLICIES)[number];

/** What a person has decided about a project. An option that was never set is absent. */
export interface ProjectOptions {
  readonly review?: ReviewPolicy;
  /** Commands that must have been observed to exit 0 before a task is done. Never empty. */
  readonly require_observed?: readonly string[];
}

export async function readProjectOptions(db: Reader, project: string): Promise<ProjectOptions> {
  const [row] = await db.query<{ content: string }>(
    'SELECT content FROM project_options WHERE project = $1 ORDER BY idx DESC LIMIT 1',
    [project],
  );
  if (row === undefined) return {};
  const { project: _project, ...options } = parseJson(row.content) as ProjectOptions & { readonly project: string };
  return options;
}

export interface OptionsChange {
  readonly project: string;
  /** All options of the project, not only the changed ones. */
  readonly options: ProjectOptions;
  readonly actor: string;
  readonly at: string;
}

/** Returns the index of the entry. */
export async function setProjectOptions(db: Transaction, change: OptionsChange): Promise<number> {
  const { project, options, actor, at } = change;
  const content = canonicalize({ ...options, project });
  const salt = createSalt();
  const digest = saltedDigest('options', salt, content);
  const index = await append(db, { v: 1, kind: 'project.options', at, actor, options: digest });
  db.send('INSERT INTO project_options (idx, project, salt, content) VALUES ($1, $2, $3, $4)', [
    index,
    project,
    salt,
    content,
  ]);
  return index;
}
