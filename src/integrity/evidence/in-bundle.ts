import type { OpenedEntry } from '../bundle/verify.ts';
import { attachmentOf, decidedKeys } from '../observed-grammar.ts';
import { parseJson } from '../parse-json.ts';
import { createCommitFinder, toCommit } from './commits.ts';
import { compareCommit, compareTests, createRunFinder, type Evidence, type Said } from './compare.ts';
import { revealRuns } from './hidden-runs.ts';
import { isRun, listHiddenRuns, listRuns, type Observation, type ObservedFields, readCommand } from './observation.ts';
import { commandsOf, readExtras } from './said.ts';

/** Compares what thoughts say with what the other entries of a bundle disclose, by the rules of a ledger. Pure. */

export interface BundledEvidence extends Evidence {
  /** Set beside `said` if an entry or a content that the bundle does not hold could decide otherwise. */
  readonly isOpen?: true;
}

/** The proved entries of a bundle, in the order of the log. */
export interface BundledLog {
  readonly entries: readonly OpenedEntry[];
  /** The size of the signed log. */
  readonly size: number;
}

/** The items of all thoughts of a task. No bundle tells what git has, so no commit is `contradicted`. */
export function compareInBundle(log: BundledLog, taskId: string): BundledEvidence[] {
  const said = listSaid(log, taskId);
  const commands = commandsOf(said);
  const { observed, blanks } = readWork(log, taskId);
  const runs = [...listRuns(observed), ...revealRuns(listHiddenRuns(observed), commands)];
  const times = new Map(runs.map(({ entry, at }) => [entry, at]));
  const findRun = createRunFinder(runs, commands);
  const findCommit = createCommitFinder(listCommits(log, taskId), () => undefined);
  return said.map((one) => {
    if (one.field === 'commit_sha') {
      const found = compareCommit(one, findCommit(one.value));
      return found.state === 'said' && !isWhole(log) ? { ...found, isOpen: true } : found;
    }
    const found = compareTests(one, findRun);
    const runAt = times.get(found.entry ?? -1) ?? '';
    const isOpen = [...blanks, ...one.blanks].some(({ from, to }) => from <= one.at && to >= one.since && to >= runAt);
    const { thought_id, field, value } = one;
    return isOpen ? { thought_id, field, value, state: 'said', isOpen } : found;
  });
}

/** A time in which the bundle may lack a run. */
interface Blank {
  readonly from: string;
  readonly to: string;
}

const [EARLIEST, LATEST] = ['', '~'];
const ALWAYS: Blank = { from: EARLIEST, to: LATEST };

function isWhole({ entries, size }: BundledLog): boolean {
  return entries.length === size;
}

interface BundledItem extends Said {
  readonly blanks: readonly Blank[];
}

function listSaid({ entries }: BundledLog, taskId: string): BundledItem[] {
  const own = entries.filter(({ fields }) => fields['task_id'] === taskId);
  const beginnings = new Map<unknown, string>();
  for (const { fields, disclosed } of own) {
    if (fields.kind !== 'task.created' && fields.kind !== 'task.updated') continue;
    const attempt = attemptIn(disclosed?.text ?? '');
    if (!beginnings.has(attempt)) beginnings.set(attempt, fields.at);
  }
  return own.flatMap(({ fields, disclosed }) => {
    if (fields.kind !== 'thought' || disclosed === undefined) return [];
    const attempt = Number(fields['attempt']);
    const since = attempt > 1 ? beginnings.get(attempt) : EARLIEST;
    const thought_id = fields['thought_id'] as string;
    const common = { thought_id, at: fields.at, since: since ?? EARLIEST, blanks: since === undefined ? [ALWAYS] : [] };
    return readExtras(disclosed.text).map((item) => ({ ...common, ...item }));
  });
}

function attemptIn(content: string): unknown {
  try {
    return (parseJson(content) as { readonly attempt?: unknown }).attempt;
  } catch {
    return undefined;
  }
}

interface Work {
  readonly observed: readonly Observation[];
  readonly blanks: readonly Blank[];
}

function readWork(log: BundledLog, taskId: string): Work {
  const { own, gaps } = findWork(log, taskId);
  const isBegun = log.entries.some(({ fields }) => fields.kind === 'task.created' && fields['task_id'] === taskId);
  const observed: Observation[] = [];
  const blanks: Blank[] = [...gaps];
  if (own.length === 0 && !isWhole(log)) blanks.push(ALWAYS);
  else if (!isBegun) blanks.push({ from: EARLIEST, to: own[0]?.fields.at ?? LATEST });
  for (const entry of own) {
    const found = observationOf(entry);
    if (found !== undefined) observed.push(found);
    else if (isRun(fieldsOf(entry))) blanks.push({ from: entry.fields.at, to: entry.fields.at });
  }
  return { observed, blanks };
}

/** What sessions did for the task: while they held it, and after they brought it to review until they took another. */
function findWork(log: BundledLog, taskId: string): { readonly own: readonly OpenedEntry[]; readonly gaps: Blank[] } {
  const own: OpenedEntry[] = [];
  const gaps: Blank[] = [];
  const begun = new Map<string, { readonly at: string; readonly place: number }>();
  const end = (key: string, place: number, to: string) => {
    const from = begun.get(key);
    begun.delete(key);
    if (from !== undefined && !isUnbroken(log, from.place, place)) gaps.push({ from: from.at, to });
  };
  for (const [place, entry] of log.entries.entries()) {
    const fields = fieldsOf(entry);
    const { kind, at, session, task_id } = fields;
    // Reports about a session name a task too, and take none.
    if (kind !== 'observed' || session === undefined) continue;
    const { key, task: held } = attachmentOf(fields);
    const isOwn = task_id === taskId;
    for (const each of decidedKeys(fields)) {
      if (task_id !== undefined) end(each, place, at);
      if (isOwn && held === undefined) begun.set(each, { at, place });
    }
    if (isOwn || begun.has(key)) own.push(entry);
  }
  for (const key of begun.keys()) end(key, log.entries.length, LATEST);
  return { own, gaps };
}

/** Whether no entry of the log is missing between two places of the bundle. */
function isUnbroken({ entries, size }: BundledLog, from: number, to: number): boolean {
  return (entries[to]?.index ?? size) - (entries[from]?.index ?? 0) === to - from;
}

/** Undefined if the content was left out or redacted, or cannot be read. */
function observationOf(entry: OpenedEntry): Observation | undefined {
  const { index, disclosed } = entry;
  if (disclosed === undefined) return undefined;
  try {
    return { entry: index, fields: fieldsOf(entry), salt: disclosed.salt, command: readCommand(disclosed.text) };
  } catch {
    return undefined;
  }
}

/** The commits of the task first, as an abbreviated hash may fit several. */
function listCommits({ entries }: BundledLog, taskId: string) {
  const isOwn = ({ fields }: OpenedEntry) => fields['task_id'] === taskId;
  return [...entries.filter(isOwn), ...entries.filter((entry) => !isOwn(entry))].flatMap((entry) =>
    toCommit(entry.index, fieldsOf(entry)),
  );
}

/** The grammar of entries was checked when the bundle was read. */
function fieldsOf({ fields }: OpenedEntry): ObservedFields {
  return fields;
}
