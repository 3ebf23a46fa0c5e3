import { Argument, InvalidArgumentError, Option } from 'commander';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { findRemembered } from '../../checkpoints/remembered.ts';
import { ROLLBACK_ADVICE } from '../../checkpoints/rollback.ts';
import { type FormerLog, listFormerLogs, readLocation } from '../../checkpoints/signed-locations.ts';
import { describeLocation } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { originOf } from '../../integrity/index.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import { describeDurations, MAX_DURATION, parseDuration } from '../../text/duration.ts';
import type { LedgerIdentity } from '../../trust/acceptance.ts';
import { readIdentity } from '../../trust/ledger-identity.ts';
import type { LedgerReport, Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { verifyFile } from '../proofs/verify-file.ts';
import { checkGit, describeGit, type GitReport, judgeGit, listGitTips } from '../recorder/verify-git.ts';
import { printWaiting } from '../recorder/waiting-events.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { assertNotDeleted } from '../support/deleted-ledger.ts';
import { collect, JSON_OPTION } from '../support/options.ts';
import { withProgress } from '../support/progress-bar.ts';
import { readProjectConfig, warnOfTestMode, withSuspectLedger } from '../support/with-ledger.ts';
import { countEntries, describeWhole } from '../views/problems.ts';
import { plural } from '../views/terminal.ts';

const MAX_SHOWN = 20;

/** A size and root that the user noted earlier. */
interface Checkpoint {
  readonly size: number;
  readonly root: string;
}

interface VerifyOptions {
  readonly key?: readonly string[];
  readonly witness?: readonly string[];
  readonly quorum?: number;
  readonly maxAge?: number;
  readonly tsaCa?: string;
  readonly expect?: readonly Checkpoint[];
  readonly git?: boolean;
  readonly json?: boolean;
}

export const verify: CliCommand<VerifyOptions, string | undefined> = {
  name: 'verify',
  summary: 'verify the whole ledger, or a bundle or proof without a ledger',
  argument: new Argument('[file]', 'a bundle of colibri export, or a proof of colibri prove'),
  options: [
    new Option('--expect <size:root>', 'require this root at this size; may be repeated').argParser(parseCheckpoint),
    new Option('--git', 'also compare the log with the commits of this repository'),
    new Option('--key <key>', 'of a file: a key of its log that you trust; may be repeated').argParser(collect),
    new Option('--witness <key>', 'of a file: a key of a witness that you trust; may be repeated').argParser(collect),
    new Option('--quorum <n>', 'of a file: how many of the witnesses must have cosigned (default: all)').argParser(
      parseQuorum,
    ),
    new Option('--max-age <duration>', 'of a file: refuse a cosignature that is older, such as 7d').argParser(parseAge),
    new Option('--tsa-ca <file>', 'of a file: check its time stamp with these certificates, by openssl'),
    JSON_OPTION,
  ],
  details: [
    'The log must extend the newest checkpoint that you have signed: see colibri checkpoint. Another user has none, and to that user a log that was truncated, or a ledger that was replaced as a whole, looks consistent. Note the size:root that verify prints in another place, and pass it to --expect later.',
    'With --git, checks that every recorded commit is in the repository of the current folder with the same tree and parents, and that the log extends every checkpoint (Colibri-Checkpoint) that the commits of its branches and tags carry. A commit that is not there, after git gc or in a shallow clone, proves nothing: the verdict is then "cannot tell".',
    'A file is checked without a ledger and without a network. The report states one by one what holds, what fails, and what cannot be known. Get the key from its owner, not from the sender of the file.',
    'Verification only reads; servers can keep writing during it.',
  ],
  examples: [
    ['colibri verify'],
    ['colibri verify --expect 1024:9f2c…', 'the root of the first 1024 entries, as printed earlier'],
    ['colibri verify --git', 'after git fetch, the commits of the team are the witness'],
    ['colibri verify task.colibri --key colibri/5f0c…+a572f83d+AT0o…', 'a bundle from another machine'],
    ['colibri verify task.colibri --key KEY --witness KEY --max-age 7d', 'and a witness saw that log this week'],
    ['colibri verify --json | jq .verdict'],
  ],
  exitCodes: { 0: 'whole', 1: 'tampered', 2: 'cannot tell', 3: 'bad input' },
  run: ({ json = false, expect = [], git = false, key = [], witness = [], quorum, maxAge, tsaCa }, file) =>
    reportResult('verify', json, async () => {
      if (file !== undefined)
        return verifyFile(file, { keys: key, witnesses: witness, quorum, maxAgeMs: maxAge, tsaCa });
      if (key.length + witness.length > 0 || [quorum, maxAge, tsaCa].some((value) => value !== undefined))
        throw new CommandError('bad input', '--key, --witness, --quorum, --max-age and --tsa-ca need a file');
      return verifyLedger(expect, git);
    }),
};

function parseQuorum(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('Use a number from 1 to 99.');
  return Number(text);
}

function parseAge(text: string): number {
  const age = parseDuration(text, MAX_DURATION);
  if (age === undefined) throw new InvalidArgumentError(`Use ${describeDurations(MAX_DURATION)}.`);
  return age;
}

function parseCheckpoint(text: string, previous: readonly Checkpoint[] = []): readonly Checkpoint[] {
  const [, size, root] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size === undefined || root === undefined)
    throw new InvalidArgumentError('Use a size, a colon and a root of 64 hexadecimal digits, as verify prints them.');
  return [...previous, { size: Number(size), root: root.toLowerCase() }];
}

async function verifyLedger(expected: readonly Checkpoint[], withGit: boolean): Promise<CommandResult> {
  const config = readProjectConfig();
  assertNotDeleted(config);
  warnOfTestMode(config);
  // The commit that was just made is the one that is asked about.
  if (withGit) printWaiting(config, 0);
  let git: GitReport | undefined;
  let former: readonly FormerLog[] = [];
  let advice = REPAIR_ADVICE;
  const report = await withProgress('verifying', (update) =>
    // Servers sign and agents commit while this reads: what is looked up later can be beyond the end of the snapshot.
    withSuspectLedger(
      config,
      (reader) => listEarlier(reader, withGit),
      async (reader, earlier) => {
        const found = await verifyEverything(reader, update);
        // A damaged log has no reliable roots to compare with.
        if (found.problems.length > 0) return found;
        if (earlier.status === 'rejected') throw earlier.reason;
        const { signed, tips } = earlier.value;
        const rollbacks = await checkCheckpoints(reader, found.size, signed);
        if (rollbacks.length > 0) advice = ROLLBACK_ADVICE;
        const problems = [...(await checkCheckpoints(reader, found.size, expected)), ...rollbacks];
        former = listFormerLogs(await readLocation(reader, describeLocation(config)), await readLedgerId(reader));
        if (withGit) git = await checkGit(reader, await identityOf(reader, found.size), tips);
        return { ...found, problems };
      },
    ),
  );
  const { size, root, problems, redacted } = report;
  const gitLines = git === undefined ? [] : describeGit(git);
  const facts = { size, root, problems, ...(redacted.length > 0 && { redacted }), ...(git !== undefined && { git }) };
  if (problems.length > 0)
    return {
      verdict: 'tampered',
      lines: [...describeTampered(report), ...describeRedacted(redacted), ...gitLines, `What to do: ${advice}`],
      facts,
    };
  const checkpoint = `${size}:${root}`;
  const verdict = git === undefined ? 'whole' : judgeGit(git);
  const note = verdict === 'whole' ? [`Note this elsewhere, to check later: --expect ${checkpoint}`] : [];
  return {
    verdict,
    lines: [describeWhole(size, root), ...describeRedacted(redacted), ...gitLines, ...note, ...describeFormer(former)],
    facts: { ...facts, checkpoint, ...(former.length > 0 && { former_logs: former.map(({ ledgerId }) => ledgerId) }) },
  };
}

const REPAIR_ADVICE =
  'do not repair it by hand; keep a copy as evidence, and restore the newest backup that verifies (docs/operations.md)';

/** A ledger that replaced another verifies on its own, and may have been replaced on purpose. */
function describeFormer(former: readonly FormerLog[]): string[] {
  return former.flatMap(({ ledgerId, file }) => [
    `Before this ledger, you signed another one at this location: ${originOf(ledgerId)}.`,
    `  If you did not replace it yourself, look for it in your backups. To forget it, remove ${file}`,
  ]);
}

async function identityOf(reader: Reader, size: number): Promise<LedgerIdentity> {
  const identity = await readIdentity(reader, size);
  if (identity === undefined) throw new Error('the ledger has no first entry');
  return identity;
}

/** What the log must extend. */
async function listEarlier(reader: Reader, withGit: boolean) {
  return { signed: await listSigned(reader), tips: withGit ? await listGitTips() : [] };
}

/** What this user has signed last. */
async function listSigned(reader: Reader): Promise<Checkpoint[]> {
  const signed = findRemembered(await readLedgerId(reader))?.newest();
  return signed === undefined ? [] : [signed];
}

/** Computes the roots from the stored nodes, which have been verified by now. */
async function checkCheckpoints(reader: Reader, size: number, expected: readonly Checkpoint[]): Promise<Problem[]> {
  const broken: Problem[] = [];
  for (const checkpoint of expected) {
    const place = `checkpoint ${checkpoint.size}`;
    if (checkpoint.size > size) broken.push({ place, problem: `is beyond the end: the log has ${size} entries` });
    else if ((await new StoredTree(reader, checkpoint.size).root()) !== checkpoint.root)
      broken.push({ place, problem: 'has another root in this log' });
  }
  return broken;
}

function describeRedacted(redacted: LedgerReport['redacted']): string[] {
  if (redacted.length === 0) return [];
  const shown = redacted
    .slice(0, MAX_SHOWN)
    .map(({ entry, by, at, redaction }) => `  entry ${entry} by ${by} at ${at} (entry ${redaction})`);
  const more = redacted.length > MAX_SHOWN ? [`  and ${redacted.length - MAX_SHOWN} more`] : [];
  return [`redacted: the content of ${countEntries(redacted.length)}, removed by people`, ...shown, ...more];
}

function describeTampered({ size, problems }: LedgerReport): string[] {
  const shown = problems.slice(0, MAX_SHOWN).map(({ place, problem }) => `  ${place} ${problem}`);
  const more = problems.length > MAX_SHOWN ? [`  and ${problems.length - MAX_SHOWN} more`] : [];
  return [
    `TAMPERED: ${plural(problems.length, 'problem')} in ${countEntries(size)}, the first at ${problems[0]?.place}`,
    ...shown,
    ...more,
  ];
}
