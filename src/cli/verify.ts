import { readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import { ColibriError, toError } from '../errors.ts';
import { openLedgerReadOnly } from '../ledger/open.ts';
import type { LedgerReport } from '../ledger/verify.ts';
import { verifyEverything } from '../verify.ts';
import { createProgressBar } from './progress-bar.ts';

const WHOLE = 0;
const TAMPERED = 1;
const CANNOT_TELL = 2;
const BAD_INPUT = 3;

const MAX_SHOWN = 20;

/** Returns the exit code. Reads only; servers may go on writing meanwhile. */
export async function verify({ json }: { json: boolean }): Promise<number> {
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...readConfig(), mode: 'READONLY', readOnly: true });
    await openLedgerReadOnly(database);
    const bar = createProgressBar('verifying');
    const report = await database.read((reader) => verifyEverything(reader, bar.update)).finally(bar.end);
    console.log(json ? JSON.stringify(verdict(report)) : describe(report));
    return report.problems.length === 0 ? WHOLE : TAMPERED;
  } catch (thrown) {
    const error = toError(thrown);
    const isBadInput = error instanceof ColibriError;
    if (json)
      console.log(JSON.stringify({ verdict: isBadInput ? 'bad input' : 'cannot tell', message: error.message }));
    else console.error(`colibri verify: ${error.message}`);
    return isBadInput ? BAD_INPUT : CANNOT_TELL;
  } finally {
    await database?.close();
  }
}

function verdict({ size, root, problems }: LedgerReport) {
  return { verdict: problems.length === 0 ? 'whole' : 'tampered', size, root, problems };
}

function describe({ size, root, problems }: LedgerReport): string {
  if (problems.length === 0) return `whole: ${size} entries, root ${root}`;
  const shown = problems.slice(0, MAX_SHOWN).map(({ place, problem }) => `  ${place} ${problem}`);
  const more = problems.length > MAX_SHOWN ? [`  and ${problems.length - MAX_SHOWN} more`] : [];
  return [
    `TAMPERED: ${problems.length} problem(s) in ${size} entries, the first at ${problems[0]?.place}`,
    ...shown,
    ...more,
  ].join('\n');
}
