import type { Command } from 'commander';
import { ColibriError, toError } from '../errors.ts';
import type { LedgerReport } from '../ledger/verify.ts';
import { verifyEverything } from '../verify.ts';
import { createProgressBar } from './progress-bar.ts';
import { withLedger } from './with-ledger.ts';

const WHOLE = 0;
const TAMPERED = 1;
const CANNOT_TELL = 2;
const BAD_INPUT = 3;

const MAX_SHOWN = 20;

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('check the whole record: log, tree, chains, sessions and tables')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  colibri verify\n  colibri verify --json | jq .verdict\n\nExit codes: 0 whole, 1 tampered, 2 cannot tell, 3 bad input.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      process.exitCode = await verify(json);
    });
}

/** Reads only; servers may go on writing meanwhile. */
async function verify(json: boolean): Promise<number> {
  try {
    const bar = createProgressBar('verifying');
    const report = await withLedger((reader) => verifyEverything(reader, bar.update)).finally(bar.end);
    console.log(json ? JSON.stringify(verdict(report)) : describe(report));
    return report.problems.length === 0 ? WHOLE : TAMPERED;
  } catch (thrown) {
    const error = toError(thrown);
    const isBadInput = error instanceof ColibriError;
    if (json)
      console.log(JSON.stringify({ verdict: isBadInput ? 'bad input' : 'cannot tell', message: error.message }));
    else console.error(`colibri verify: ${error.message}`);
    return isBadInput ? BAD_INPUT : CANNOT_TELL;
  }
}

function verdict({ size, root, problems }: LedgerReport) {
  return { verdict: problems.length === 0 ? 'whole' : 'tampered', size, root, problems };
}

function describe({ size, root, problems }: LedgerReport): string {
  if (problems.length === 0) return `whole: ${size} ${size === 1 ? 'entry' : 'entries'}, root ${root}`;
  const shown = problems.slice(0, MAX_SHOWN).map(({ place, problem }) => `  ${place} ${problem}`);
  const more = problems.length > MAX_SHOWN ? [`  and ${problems.length - MAX_SHOWN} more`] : [];
  return [
    `TAMPERED: ${problems.length} problem(s) in ${size} entries, the first at ${problems[0]?.place}`,
    ...shown,
    ...more,
  ].join('\n');
}
