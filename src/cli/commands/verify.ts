import { type Command, InvalidArgumentError } from 'commander';
import type { Reader } from '../../db/database.ts';
import { ColibriError, toError } from '../../errors.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import { printError } from '../../print-error.ts';
import type { LedgerReport, Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { print, printJson } from '../support/print.ts';
import { createProgressBar } from '../support/progress-bar.ts';
import { withSuspectLedger } from '../support/with-ledger.ts';

const WHOLE = 0;
const TAMPERED = 1;
const CANNOT_TELL = 2;
const BAD_INPUT = 3;

const MAX_SHOWN = 20;

const HELP = `
A ledger that was cut, or replaced as a whole, is whole in itself. Keep the size and the root that verify prints in
another place, and have them checked later with --expect.

Examples:
  colibri verify
  colibri verify --expect 1024:9f2c…          the root of the first 1024 entries, as it was printed then
  colibri verify --json | jq .verdict

Exit codes: 0 whole, 1 tampered, 2 cannot tell, 3 bad input.`;

/** What somebody noted about a ledger at an earlier time. */
interface Checkpoint {
  readonly size: number;
  readonly root: string;
}

function readCheckpoint(text: string, before: readonly Checkpoint[] = []): readonly Checkpoint[] {
  const [, size, root] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size === undefined || root === undefined)
    throw new InvalidArgumentError('It is a size, a colon and a root of 64 hexadecimal digits, as verify prints them.');
  return [...before, { size: Number(size), root: root.toLowerCase() }];
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('check the whole record: log, tree, chains, sessions and tables')
    .option('--expect <size:root>', 'the log must have had this root at this size; may be given again', readCheckpoint)
    .option('--json', 'print the report as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json = false, expect = [] }: { json?: boolean; expect?: readonly Checkpoint[] }) => {
      process.exitCode = await verify(json, expect);
    });
}

/** Reads only; servers may go on writing meanwhile. */
async function verify(json: boolean, expected: readonly Checkpoint[]): Promise<number> {
  try {
    const bar = createProgressBar('verifying');
    const report = await withSuspectLedger(async (reader) => {
      const whole = await verifyEverything(reader, bar.update);
      // What is damaged already has no root to compare.
      return whole.problems.length > 0 ? whole : { ...whole, problems: await findBroken(reader, whole.size, expected) };
    }).finally(bar.end);
    if (json) printJson(verdict(report));
    else print(describe(report));
    return report.problems.length === 0 ? WHOLE : TAMPERED;
  } catch (thrown) {
    const error = toError(thrown);
    const isBadInput = error instanceof ColibriError;
    if (json) printJson({ verdict: isBadInput ? 'bad input' : 'cannot tell', message: error.message });
    else printError(`colibri verify: ${error.message}`);
    return isBadInput ? BAD_INPUT : CANNOT_TELL;
  }
}

/** The nodes that these roots are computed from have been verified by now. */
async function findBroken(reader: Reader, size: number, expected: readonly Checkpoint[]): Promise<Problem[]> {
  const broken: Problem[] = [];
  for (const checkpoint of expected) {
    const place = `checkpoint ${checkpoint.size}`;
    if (checkpoint.size > size) broken.push({ place, problem: `is beyond the end: the log has ${size} entries` });
    else if ((await new StoredTree(reader, checkpoint.size).root()) !== checkpoint.root)
      broken.push({ place, problem: 'had another root' });
  }
  return broken;
}

function verdict({ size, root, problems }: LedgerReport) {
  return { verdict: problems.length === 0 ? 'whole' : 'tampered', size, root, problems };
}

function describe({ size, root, problems }: LedgerReport): string[] {
  if (problems.length === 0) return [`whole: ${size} ${size === 1 ? 'entry' : 'entries'}, root ${root}`];
  const shown = problems.slice(0, MAX_SHOWN).map(({ place, problem }) => `  ${place} ${problem}`);
  const more = problems.length > MAX_SHOWN ? [`  and ${problems.length - MAX_SHOWN} more`] : [];
  return [
    `TAMPERED: ${problems.length} problem(s) in ${size} entries, the first at ${problems[0]?.place}`,
    ...shown,
    ...more,
  ];
}
