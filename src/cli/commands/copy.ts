import { Option } from 'commander';
import { synchronize } from '../../copy/synchronize.ts';
import { markFinished, markUnfinished, migrateTarget, readTarget, type Target } from '../../copy/target.ts';
import type { Database, Reader } from '../../db/database.ts';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { isSameDatabase } from '../../db/same-database.ts';
import { overwriteFreePages } from '../../db/sqlite/files/overwrite-free-pages.ts';
import { isServed } from '../../db/sqlite/files/replace.ts';
import { countCommonEntries } from '../../ledger/common-prefix.ts';
import { type LedgerHead, readHead } from '../../ledger/head.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { type CopiedLedger, type Source, withSource } from '../copy/source.ts';
import { openTarget, parseTarget } from '../copy/target.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { JSON_OPTION } from '../support/options.ts';
import { withProgress } from '../support/progress-bar.ts';
import { readProjectConfig } from '../support/with-ledger.ts';
import { countEntries, describeProblems, describeWhole } from '../views/problems.ts';

export const copy: CliCommand<{ readonly to: string; readonly json?: boolean }> = {
  name: 'copy',
  summary: 'copy the ledger to PostgreSQL or to an SQLite file while servers run',
  options: [new Option('--to <target>', 'a postgres:// URL or the path of a file').makeOptionMandatory(), JSON_OPTION],
  details: [
    'Copies the ledger of COLIBRI_DATABASE_URL, COLIBRI_DB_PATH or the project. Verifies both sides; at the end they have the same root. Servers can keep writing to the source. The target cannot be used until the copy is finished.',
    'Run the same command again to resume an interrupted copy or to update a finished one. A target that has entries of its own is refused.',
    'A ledger of an older version is migrated in a private copy, in the folder for temporary files; the ledger itself is not changed. A target of an older version is migrated.',
  ],
  examples: [
    ['colibri copy --to postgres://colibri@db.example.org/colibri'],
    ['PGPASSWORD=… colibri copy --to postgres://…', 'keeps the password out of the process list'],
    ['COLIBRI_DATABASE_URL=postgres://… colibri copy --to .colibri/colibri.db'],
    ['colibri copy --to second.db --json | jq .added'],
  ],
  exitCodes: { 0: 'done', 1: 'refused, tampered or different', 2: 'cannot tell', 3: 'bad input' },
  run: ({ to, json = false }) => reportResult('copy', json, () => copyTo(to)),
};

async function copyTo(to: string): Promise<CommandResult> {
  const location = parseTarget(to);
  return withSource(readProjectConfig(), async (source) => {
    const { current } = source;
    assertWhole(current, await current.read((reader) => verify(reader, 'verifying the source')));
    const target = await openTarget(location);
    let copied: Copied;
    try {
      await assertUsable(source.ledger, target);
      const found = await readTarget(target);
      await assertPrefix(current, target, found);
      copied = await copyInto(source, target, await migrated(target, found));
    } finally {
      await target.close();
    }
    // The file may have held what was redacted since the last copy, or during this one.
    if (target.engine === 'sqlite' && copied.hasRedacted) await overwriteFreePages(target.location);
    return copied.result;
  });
}

function migrated(target: Database, found: Target): Promise<Target> {
  if (found.state !== 'outdated') return Promise.resolve(found);
  return withProgress('migrating the target', (update) => migrateTarget(target, found, update));
}

interface Copied {
  readonly result: CommandResult;
  /** True if the copy brought redactions along. */
  readonly hasRedacted: boolean;
}

async function copyInto(source: Source, target: Database, found: Target): Promise<Copied> {
  const present = await source.current.read(readHead);
  const isUpToDate = found.state === 'finished' && found.size === present.size;
  const head = isUpToDate ? present : await transfer(source.current, target, found);
  let hasRedacted = false;
  const check = async (reader: Reader) => {
    const report = await verify(reader, 'verifying the copy');
    assertEqual(target, head, report);
    hasRedacted = report.redacted.some(({ redaction }) => redaction >= found.size);
  };
  await (isUpToDate ? target.read(check) : markFinished(target, head.size, check));
  return { result: await describe(source, target, head, found), hasRedacted };
}

async function transfer(source: CopiedLedger, target: Database, found: Target): Promise<LedgerHead> {
  await markUnfinished(target, found);
  return withProgress('copying', (update) => synchronize(source, target, found.size, update));
}

function verify(reader: Reader, label: string): Promise<LedgerReport> {
  return withProgress(label, (update) => verifyEverything(reader, update));
}

/** A copy of a tampered ledger would look like a checked one. */
function assertWhole(source: CopiedLedger, { problems }: LedgerReport): void {
  if (problems.length === 0) return;
  throw new CommandError('tampered', `${source.location} does not verify: ${describeProblems(problems)}`, {
    advice: 'nothing was copied; restore a backup first',
    facts: { from: source.location, problems },
  });
}

async function assertUsable(source: CopiedLedger, target: Database): Promise<void> {
  const to = target.location;
  if (await isSameDatabase(source, target))
    throw new CommandError('bad input', `${to} is the ledger itself`, { advice: 'choose another target' });
  if (target.engine !== 'sqlite' || !(await isServed(to))) return;
  throw new CommandError('refused', `a server has ${to} open`, {
    advice: 'stop it (close the agents that started it) and try again',
    facts: { to, reason: 'in use' },
  });
}

/** The log of the target must be a prefix of the log of the source. */
async function assertPrefix(source: CopiedLedger, target: Database, { size }: Target): Promise<void> {
  if (size === 0) return;
  const [sourceSize, common] = await source.read(async (reader) => {
    const { size: ownSize } = await readHead(reader);
    const own = { reader, size: ownSize };
    return [ownSize, await target.read((other) => countCommonEntries(own, { reader: other, size }))] as const;
  });
  if (common === size) return;
  throw new CommandError(
    'refused',
    `${target.location} has ${size} entries, but only the first ${common} match the source: it is another ledger, or has its own entries`,
    {
      advice: 'choose another target',
      facts: { to: target.location, reason: 'diverged', size, common, source_size: sourceSize },
    },
  );
}

/** The source verified, so a difference means that the target was changed, before the copy or during it. */
function assertEqual({ location: to }: Database, head: LedgerHead, { size, root, problems }: LedgerReport): void {
  if (problems.length === 0 && size === head.size && root === head.root) return;
  const reason =
    problems.length === 0
      ? `has ${size} entries and root ${root}, the source ${head.size} and ${head.root}`
      : `does not verify: ${describeProblems(problems)}`;
  throw new CommandError('differs', `the copy ${to} ${reason}`, {
    advice: 'remove it and copy again',
    facts: { to, size, root, source_size: head.size, source_root: head.root, problems },
  });
}

async function describe(
  { ledger: { location: from }, current, version }: Source,
  { location: to }: Database,
  { size, root }: LedgerHead,
  found: Target,
): Promise<CommandResult> {
  const { size: sourceSize } = await current.read(readHead);
  const added = size - found.size;
  const lines = [`copied ${from} to ${to}: ${countEntries(added)} added`, describeWhole(size, root)];
  const isMigrated = version !== SCHEMA_VERSION;
  if (isMigrated) lines.push(`the copy has schema ${SCHEMA_VERSION}; ${from} still has schema ${version}`);
  if (sourceSize > size)
    lines.push(`The source has grown to ${sourceSize} entries. Stop its servers and run the command again.`);
  return {
    verdict: 'copied',
    lines,
    facts: { from, to, size, root, added, source_size: sourceSize, ...(isMigrated && { migrated_from: version }) },
  };
}
