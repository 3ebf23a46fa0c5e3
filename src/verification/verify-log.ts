import type { Reader } from '../db/database.ts';
import { type Digest, EMPTY_ROOT, ENTRY_KINDS, type Entry, entryDefect, parseEntry } from '../integrity/index.ts';
import { BLOCK } from '../ledger/stored-tree.ts';
import type { ClaimCheck } from './fast/deferred-digest.ts';
import { type Hashing, type Progress, startHasher, withHasher } from './fast/hash-worker-client.ts';
import { fromByteText } from './fast/latin1-text.ts';
import { readPage, readPageByRow, type StoredPage } from './fast/page.ts';
import { checkCalls } from './reference/calls.ts';
import { NodeCheck } from './reference/nodes.ts';
import { ProblemList } from './report.ts';
import { strictReader } from './strict-reader.ts';

/** A place where the record does not hold, named so that a person can look at it. */
export interface Problem {
  readonly place: string;
  readonly problem: string;
}

export interface LedgerReport {
  readonly size: number;
  readonly root: Digest;
  readonly problems: readonly Problem[];
  /** What the fast path did; the reference checks did the rest. */
  readonly fast: FastPathUse;
}

export interface FastPathUse {
  /** Pages whose rows were read as one value. */
  readonly pages: number;
  /** Entries that were proved to say exactly what the tables say. */
  readonly entries: number;
}

export interface VerifyOptions {
  readonly start?: typeof startHasher;
  /** False: every row is read and parsed by itself. Must find the same. */
  readonly useFastPath?: boolean;
}

export type Report = (place: string, problem: string) => void;

export interface LoggedEntry {
  readonly index: number;
  readonly entry: Entry;
}

/** Entries of a page that say exactly what the tables say, which their texts alone have shown. */
export interface Foresight {
  readonly indexes: readonly number[];
  /** The kinds of entry that concern the same rows. Where another of them is in the page, nothing is foreseen. */
  readonly kinds: ReadonlySet<string>;
  /** To be called when the entries are taken for granted: `page` will not see them. */
  readonly accept: () => void;
}

/** Compares tables that were made from the log with the log, a stretch at a time, in the order of the log. */
export interface ProjectionCheck {
  /** Looks for entries that need not be read, without reporting anything: what is not as foreseen is left to `page`. */
  foresee(page: StoredPage, claims: ClaimCheck): Promise<Foresight | undefined>;
  /** The readable entries from `begin` to `end` (exclusive), but for those that somebody has foreseen. */
  page(entries: readonly LoggedEntry[], begin: number, end: number): Promise<void>;
  /** After the last page: what only the whole can tell. */
  finish(size: number): Promise<void>;
}

export type Projection = (reader: Reader, report: Report) => ProjectionCheck;

export const nothingForeseen = (): Promise<undefined> => Promise.resolve(undefined);

const PAGE = 512;

/** A leaf, a node above it, and mostly a digest or a link of a chain. */
const HASHES_PER_ENTRY = 3;

/** Checks every entry, every stored node and every projection. Memory grows by some 30 bytes for each task and session. */
export async function verifyLedger(
  anyReader: Reader,
  projections: readonly Projection[] = [],
  progress: Progress = () => undefined,
  { start = startHasher, useFastPath = true }: VerifyOptions = {},
): Promise<LedgerReport> {
  const reader = strictReader(anyReader);
  const problems = new ProblemList();
  const head = await findHead(reader, problems.report);
  if (head === undefined)
    return { size: 0, root: EMPTY_ROOT, problems: problems.list(), fast: { pages: 0, entries: 0 } };
  const job = { size: head.size, hashes: head.size * HASHES_PER_ENTRY };
  return withHasher(job, start, progress, (hashing) =>
    verifyEntries(reader, head, projections, { ...hashing, useFastPath }),
  );
}

async function verifyEntries(
  reader: Reader,
  head: HeadRow,
  projections: readonly Projection[],
  { hasher, progress, useFastPath }: Hashing & { readonly useFastPath: boolean },
): Promise<LedgerReport> {
  const problems = new ProblemList();
  const { report } = problems;
  const nodes = new NodeCheck(reader, report);
  const checks = [checkCalls, ...projections].map((projection) => projection(reader, report));
  const fast = { pages: 0, entries: 0 };
  const on = { checks, nodes, hasher, problems, progress, useFastPath, fast };
  const isWhole = await checkPages(reader, head.size, on);
  const { root, tail } = await hasher.finish();
  await nodes.page(hasher.takeNodes());
  problems.position = Number.MAX_SAFE_INTEGER;
  if (isWhole) {
    if (tail !== head.tail)
      report(`entry ${head.size - 1}`, `or one of the ${BLOCK - 1} before it is not what was appended`);
    await checkCount(reader, head.size, report);
    await nodes.finish(head.size);
    for (const check of checks) await check.finish(head.size);
  }
  return { size: head.size, root, problems: problems.list(), fast };
}

interface Checking extends Hashing {
  readonly useFastPath: boolean;
  readonly fast: { pages: number; entries: number };
  readonly checks: readonly ProjectionCheck[];
  readonly nodes: NodeCheck;
  readonly problems: ProblemList;
}

/** A node has the whole number of entries below it as its place: before it come entries, after it what they stand for. */
const ENTRIES = 0.5;
const PROJECTIONS = 0.25;

/** False when an entry is missing: behind it nothing can be told. */
async function checkPages(reader: Reader, size: number, on: Checking): Promise<boolean> {
  const { report } = on.problems;
  for (let begin = 0; begin < size; begin += PAGE) {
    const end = Math.min(begin + PAGE, size);
    on.problems.position = begin + ENTRIES;
    const page = await (on.useFastPath ? readPage : readPageByRow)(reader, begin, end);
    await on.hasher.add(page);
    if (page.end !== undefined) {
      parseEntries(page, [], report);
      report(`entry ${page.end.index}`, page.end.problem);
      return false;
    }
    const foresights = on.useFastPath ? await foresee(on, page) : [];
    const entries = parseEntries(page, foresights, report, (count) => {
      on.fast.entries += count;
    });
    if (page.isPacked) on.fast.pages += 1;
    await on.nodes.page(on.hasher.takeNodes());
    on.problems.position = end + PROJECTIONS;
    for (const check of on.checks) await check.page(entries, begin, end);
    on.progress(end, size);
  }
  return true;
}

async function foresee({ checks, hasher }: Checking, page: StoredPage): Promise<Foresight[]> {
  const foresights: Foresight[] = [];
  for (const check of checks) {
    const foresight = await check.foresee(page, hasher);
    if (foresight !== undefined) foresights.push(foresight);
  }
  return foresights;
}

/** The readable entries of a page that nobody has foreseen. */
function parseEntries(
  page: StoredPage,
  foresights: readonly Foresight[],
  report: Report,
  onAccepted: (count: number) => void = () => undefined,
): LoggedEntry[] {
  const isForeseen = new Uint8Array(page.texts.length);
  for (const { indexes } of foresights) for (const index of indexes) isForeseen[index - page.begin] = 1;
  const entries: LoggedEntry[] = [];
  for (let offset = 0; offset < isForeseen.length; offset += 1) {
    if (isForeseen[offset] === 1) continue;
    const entry = readEntry(page, offset, report);
    if (entry !== undefined) entries.push({ index: page.begin + offset, entry });
  }
  const read = new Set<string>(entries.map(({ entry }) => entry.kind));
  for (const { kinds, indexes, accept } of foresights) {
    if (![...kinds].some((kind) => read.has(kind))) {
      accept();
      onAccepted(indexes.length);
    } else for (const index of indexes) entries.push(foreseenEntry(page, index));
  }
  return entries.sort((left, right) => left.index - right.index);
}

/** There is one head row, and it says how many entries there are. */
async function findHead(reader: Reader, report: Report): Promise<HeadRow | undefined> {
  const heads = await reader.query<HeadRow>('SELECT id, size, tail FROM ledger_head');
  const [head] = heads;
  if (head !== undefined && heads.length === 1 && head.id === 1 && Number.isSafeInteger(head.size) && head.size > 0)
    return head;
  report('ledger_head', head === undefined ? 'is missing' : 'does not say how many entries there are');
  return undefined;
}

interface HeadRow {
  readonly id: number;
  readonly size: number;
  readonly tail: string;
}

function readEntry({ begin, kinds, texts }: StoredPage, offset: number, report: Report): Entry | undefined {
  const index = begin + offset;
  const entry = parseEntry(fromByteText(texts[offset] ?? ''));
  if (entry === undefined) {
    report(`entry ${index}`, 'is not canonical');
    return undefined;
  }
  if (!ENTRY_KINDS.includes(entry.kind)) report(`entry ${index}`, 'has an unknown kind');
  else if ((entry.kind === 'genesis') !== (index === 0))
    report(`entry ${index}`, 'is misplaced: genesis must be entry 0 and nowhere else');
  else if (entry.kind !== kinds[offset])
    report(`entry ${index}`, `is stored as ${kinds[offset]} and says ${entry.kind}`);
  else {
    const defect = entryDefect(entry);
    if (defect !== undefined) report(`entry ${index}`, `breaks the grammar of ${entry.kind}: it ${defect}`);
  }
  return entry;
}

function foreseenEntry({ begin, texts }: StoredPage, index: number): LoggedEntry {
  const entry = parseEntry(fromByteText(texts[index - begin] ?? ''));
  if (entry === undefined) throw new Error(`entry ${index} was foreseen and is not canonical`);
  return { index, entry };
}

/** Every entry was read once by its index; what the table has beside them is no part of the log. */
async function checkCount(reader: Reader, size: number, report: Report): Promise<void> {
  const beyond = await reader.query('SELECT 1 FROM ledger_entries WHERE idx < 0 OR idx >= $1 LIMIT 1', [size]);
  if (beyond.length > 0) report('ledger_entries', `has rows outside of 0 to ${size - 1}`);
  const [counted] = await reader.query<{ entries: number }>('SELECT COUNT(*) AS entries FROM ledger_entries');
  if (beyond.length === 0 && counted?.entries !== size)
    report('ledger_entries', `has ${counted?.entries} rows where the head counts ${size}`);
}
