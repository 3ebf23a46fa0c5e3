import type { Command } from 'commander';
import { synchronize } from '../../copy/synchronize.ts';
import { markFinished, markUnfinished, readTarget, type Target } from '../../copy/target.ts';
import type { Database, Reader } from '../../db/database.ts';
import { isSamePlace } from '../../db/same-database.ts';
import { isServed } from '../../db/sqlite/files/replace.ts';
import { countCommonEntries } from '../../ledger/common-prefix.ts';
import { type LedgerHead, readHead } from '../../ledger/head.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { EXIT, type Outcome, Refusal, reportOutcome } from '../support/command-result.ts';
import { openTarget, readPlace } from '../support/copy-target.ts';
import { createProgressBar } from '../support/progress-bar.ts';
import { type ReadableLedger, withDatabase } from '../support/with-ledger.ts';

const HELP = `
Copies the ledger that COLIBRI_DATABASE_URL or COLIBRI_DB_PATH names, or that of the project, to a PostgreSQL database
or an SQLite file. Both are verified, and have the same root at the end. Servers may go on writing to the source; until
the copy is finished nobody can use the target. A copy that was cut short goes on where it was when it is run again, and
a finished one is brought up to date. A target that has entries of its own is refused.

Examples:
  colibri copy --to postgres://colibri@db.example.org/colibri
  PGPASSWORD=… colibri copy --to postgres://…        keeps the password out of the list of processes
  COLIBRI_DATABASE_URL=postgres://… colibri copy --to .colibri/colibri.db
  colibri copy --to second.db --json | jq .added

Exit codes: 0 done, 1 refused, tampered or different, 2 cannot tell, 3 bad input.`;

export function addCopy(program: Command): void {
  program
    .command('copy')
    .description('copy the ledger to PostgreSQL or to an SQLite file, while servers run')
    .requiredOption('--to <place>', 'a postgres:// URL or the path of a file')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', HELP)
    .action(({ to, json = false }: { to: string; json?: boolean }) => reportOutcome('copy', json, () => copy(to)));
}

async function copy(to: string): Promise<Outcome> {
  const place = readPlace(to);
  return withDatabase(async (source) => {
    assertWhole(source, await source.read((reader) => verify(reader, 'verifying the source')));
    const target = await openTarget(place);
    try {
      await assertUsable(source, target);
      const found = await readTarget(target);
      await assertPrefix(source, target, found);
      return await copyInto(source, target, found);
    } finally {
      await target.close();
    }
  });
}

async function copyInto(source: ReadableLedger, target: Database, found: Target): Promise<Outcome> {
  const present = await source.read(readHead);
  const isUpToDate = found.state === 'finished' && found.size === present.size;
  const head = isUpToDate ? present : await transfer(source, target, found);
  const check = async (reader: Reader) => assertEqual(target, head, await verify(reader, 'verifying the copy'));
  await (isUpToDate ? target.read(check) : markFinished(target, head.size, check));
  return describe(source, target, head, found);
}

async function transfer(source: ReadableLedger, target: Database, found: Target): Promise<LedgerHead> {
  await markUnfinished(target, found);
  const bar = createProgressBar('copying');
  return synchronize(source, target, found.size, bar.update).finally(bar.end);
}

function verify(reader: Reader, label: string): Promise<LedgerReport> {
  const bar = createProgressBar(label);
  return verifyEverything(reader, bar.update).finally(bar.end);
}

/** A copy of a tampered ledger would look as if somebody had checked it. */
function assertWhole(source: ReadableLedger, { problems }: LedgerReport): void {
  const [first] = problems;
  if (first === undefined) return;
  const message = `${source.location} does not verify: ${problems.length} problem(s), the first at ${first.place}: ${first.problem}; nothing was copied, restore a backup first`;
  throw new Refusal(EXIT.refused, 'tampered', message, { from: source.location, problems });
}

async function assertUsable(source: ReadableLedger, target: Database): Promise<void> {
  const to = target.location;
  if (await isSamePlace(source, target))
    throw new Refusal(EXIT.badInput, 'bad input', `${to} is the ledger itself; name another place`);
  if (target.engine !== 'sqlite' || !(await isServed(to))) return;
  const message = `a server has ${to} open; end it (close the agents that started it) and try again`;
  throw new Refusal(EXIT.refused, 'refused', message, { to, reason: 'in use' });
}

/** What the target has must be the beginning of what the source has, entry for entry. */
async function assertPrefix(source: ReadableLedger, target: Database, { size }: Target): Promise<void> {
  if (size === 0) return;
  const [sourceSize, common] = await source.read(async (reader) => {
    const { size: ownSize } = await readHead(reader);
    const own = { reader, size: ownSize };
    return [ownSize, await target.read((other) => countCommonEntries(own, { reader: other, size }))] as const;
  });
  if (common === size) return;
  throw new Refusal(
    EXIT.refused,
    'refused',
    `${target.location} has ${size} entries, and they are the source's only up to entry ${common}: it is another ledger, or went on by itself; name another place`,
    { to: target.location, reason: 'diverged', size, common, source_size: sourceSize },
  );
}

/** The source verified; so what is wrong here was changed in the target, before or while the copy was made. */
function assertEqual({ location: to }: Database, head: LedgerHead, { size, root, problems }: LedgerReport): void {
  const [first] = problems;
  if (first === undefined && size === head.size && root === head.root) return;
  const reason =
    first === undefined
      ? `has ${size} entries and root ${root}, the source ${head.size} and ${head.root}`
      : `does not verify: ${problems.length} problem(s), the first at ${first.place}: ${first.problem}`;
  throw new Refusal(EXIT.refused, 'differs', `the copy ${to} ${reason}; remove it and copy again`, {
    to,
    size,
    root,
    source_size: head.size,
    source_root: head.root,
    problems,
  });
}

async function describe(
  source: ReadableLedger,
  { location: to }: Database,
  { size, root }: LedgerHead,
  found: Target,
): Promise<Outcome> {
  const { size: sourceSize } = await source.read(readHead);
  const added = size - found.size;
  const lines = [`copied ${source.location} to ${to}: ${added} new entries`, `whole: ${size} entries, root ${root}`];
  if (sourceSize > size)
    lines.push(`the source has gone on and has ${sourceSize} by now; run it again when its servers have ended`);
  return {
    exitCode: EXIT.done,
    verdict: 'copied',
    lines,
    facts: { from: source.location, to, size, root, added, source_size: sourceSize },
  };
}
