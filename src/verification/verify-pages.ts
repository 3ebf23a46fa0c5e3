import type { Reader } from '../db/database.ts';
import { EMPTY_ROOT } from '../integrity/index.ts';
import { BLOCK } from '../ledger/stored-tree.ts';
import { startHashWorker } from './fast/hash-worker-client.ts';
import { readPackedPage } from './fast/packed-entries.ts';
import { PageProver } from './fast/page-prover.ts';
import { type Pass, type Progress, verifyInPasses } from './hashing.ts';
import { LastLinkCache } from './last-link-cache.ts';
import { NOTHING_PROVEN, type PageProof } from './page-proof.ts';
import { RedactionFinder, type Redactions } from './redactions/finder.ts';
import { ReferenceCheck } from './reference/reference-check.ts';
import { parseEntries, readPageByRow } from './reference/stored-entries.ts';
import type { LedgerReport, Problem, Report } from './report.ts';
import type { StoredPage } from './stored-page.ts';

export interface VerifyOptions {
  readonly start?: typeof startHashWorker;
  /** False: the reference checks every row. Must report the same. */
  readonly useFastPath?: boolean;
}

const PAGE = 256;

/** Nodes are few: those of several pages are compared with one query per level. */
const ENTRIES_PER_NODE_CHECK = 8 * PAGE;

/** A leaf, a node above it, and usually a digest or a link of a chain. */
const HASHES_PER_ENTRY = 3;

/**
 * Checks every entry, every stored node and every projection: for each page what the fast path proves, else what the
 * reference finds. Memory grows by some 30 bytes for each task and session.
 */
export async function verifyPages(
  reader: Reader,
  progress: Progress = () => undefined,
  { start = startHashWorker, useFastPath = true }: VerifyOptions = {},
): Promise<LedgerReport> {
  const problems: Problem[] = [];
  const head = await findHead(reader, (place, problem) => problems.push({ place, problem }));
  if (head === undefined) return { size: 0, root: EMPTY_ROOT, problems, redacted: [], fast: { pages: 0, entries: 0 } };
  const job = { size: head.size, hashes: head.size * HASHES_PER_ENTRY };
  return verifyInPasses(job, start, progress, (pass) => verifyOnce(reader, head, pass, useFastPath));
}

async function verifyOnce(reader: Reader, head: HeadRow, pass: Pass, useFastPath: boolean): Promise<LedgerReport> {
  const { hasher } = pass;
  const problems: Problem[] = [];
  const report: Report = (place, problem) => {
    problems.push({ place, problem });
    hasher.refute();
  };
  const links = new LastLinkCache(reader);
  const reference = new ReferenceCheck(reader, links, report);
  const fast = { pages: 0, entries: 0 };
  const prover = useFastPath ? new PageProver({ reader, links, hasher, openCalls: reference.openCalls }) : undefined;
  const checking = { ...pass, report, reference, prover, fast, redactions: new RedactionFinder(reader) };
  const isComplete = await checkPages(reader, head.size, checking);
  const tree = await hasher.finish();
  const { redacted } = reference;
  if (hasher.isRefuted || tree === undefined) return { size: head.size, root: EMPTY_ROOT, problems, redacted, fast };
  await checkNodes(checking);
  if (isComplete) {
    if (tree.tail !== head.tail)
      report(`entry ${head.size - 1}`, `or one of the ${BLOCK - 1} before it is not what was appended`);
    await reference.finish(head.size);
  }
  return { size: head.size, root: tree.root, problems, redacted, fast };
}

interface Checking extends Pass {
  readonly report: Report;
  readonly reference: ReferenceCheck;
  readonly prover: PageProver | undefined;
  readonly redactions: RedactionFinder;
  readonly fast: { pages: number; entries: number };
}

/** Returns false at a missing entry, behind which nothing can be checked, and when the pass is refuted. */
async function checkPages(reader: Reader, size: number, checking: Checking): Promise<boolean> {
  const { hasher, prover, report, fast } = checking;
  for (let begin = 0; begin < size; begin += PAGE) {
    const end = Math.min(begin + PAGE, size);
    const packed = prover && (await readPackedPage(reader, begin, end));
    const page = packed ?? (await readPageByRow(reader, begin, end));
    await hasher.add(page);
    if (hasher.isRefuted) return false;
    if (page.end !== undefined) {
      parseEntries(page, NOTHING_PROVEN.isProven, report);
      report(`entry ${page.end.index}`, page.end.problem);
      return false;
    }
    const redactions = await checking.redactions.between(begin, end);
    await checkPage(page, packed && (await prover?.prove(packed, redactions)), redactions, checking);
    if (page.isPacked) fast.pages += 1;
    checking.progress(end, size);
  }
  return true;
}

async function checkPage(
  page: StoredPage,
  proof: PageProof = NOTHING_PROVEN,
  redactions: Redactions,
  checking: Checking,
): Promise<void> {
  const entries = parseEntries(page, proof.isProven, checking.report);
  if (page.begin % ENTRIES_PER_NODE_CHECK === 0) await checkNodes(checking);
  await checking.reference.page(page, entries, proof, redactions);
  for (const isProven of proof.isProven) checking.fast.entries += isProven;
}

async function checkNodes({ hasher, prover, reference }: Checking): Promise<void> {
  const nodes = hasher.takeNodes();
  if ((await prover?.proveNodes(nodes)) !== true) await reference.nodes.page(nodes);
}

/** The head is one row, which counts the entries. */
async function findHead(reader: Reader, report: Report): Promise<HeadRow | undefined> {
  const heads = await reader.query<HeadRow>('SELECT id, size, tail FROM ledger_head');
  const [head] = heads;
  if (head !== undefined && heads.length === 1 && head.id === 1 && Number.isSafeInteger(head.size) && head.size > 0)
    return head;
  report('ledger_head', head === undefined ? 'is missing' : 'does not state the number of entries');
  return undefined;
}

interface HeadRow {
  readonly id: number;
  readonly size: number;
  readonly tail: string;
}
