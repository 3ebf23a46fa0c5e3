import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { locateDatabase } from '../../config.ts';
import { copySqlite } from '../../db/sqlite/files/copy.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { assertFree, publish, removeDatabase, timeStamp } from '../support/atomic-file.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { EXIT, type Outcome, Refusal, reportOutcome } from '../support/command-result.ts';
import { createProgressBar } from '../support/progress-bar.ts';
import { assertIsFile } from '../support/require-sqlite.ts';
import { projectConfig, withLedger, withLedgerAt } from '../support/with-ledger.ts';
import { attentive } from '../support/yielding-reader.ts';

const HELP = `
The copy is that of one moment, for the owner only, and has been verified when its name appears. Servers may go on
writing meanwhile. Without a file, or with a folder, the name is made of the time and the number of entries.

Examples:
  colibri backup                       beside the ledger
  colibri backup /media/usb            in that folder
  colibri backup monday.db             that very file; an existing one is never overwritten
  colibri backup --json | jq -r .file

A ledger whose record does not verify is copied as evidence. One whose schema was changed is not: a copy of it could act.

Exit codes: 0 done, 1 the record does not verify, 2 cannot tell, 3 bad input.`;

export function addBackup(program: Command): void {
  program
    .command('backup [file]')
    .description('a verified copy of the ledger, while servers run')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', HELP)
    .action((file: string | undefined, { json = false }: { json?: boolean }) =>
      reportOutcome('backup', json, () => backup(file)),
    );
}

async function backup(file: string | undefined): Promise<Outcome> {
  const config = projectConfig();
  assertIsFile('backup', config);
  const ledger = locateDatabase(config);
  const nameFor = chooseName(file, ledger);
  await withLedger(async () => undefined);
  const partial = join(dirname(nameFor(0)), `colibri-backup-${randomBytes(4).toString('hex')}.partial`);
  return withCleanUp(
    () => removeDatabase(partial),
    async () => {
      await copySqlite(ledger, partial);
      const bar = createProgressBar('verifying the copy');
      const report = await withLedgerAt(partial, (reader) => verifyEverything(attentive(reader), bar.update)).finally(
        bar.end,
      );
      const target = nameFor(report.size);
      publish(partial, target);
      return describe(target, report);
    },
  );
}

/** Where the copy goes, as far as it can be told before its size is known. */
function chooseName(file: string | undefined, ledger: string): (size: number) => string {
  const named = resolve(file ?? dirname(ledger));
  if (file === undefined || isFolder(named)) {
    const extension = extname(ledger);
    const stem = `${basename(ledger, extension)}-${timeStamp()}`;
    return (size) => join(named, `${stem}-${size}${extension}`);
  }
  if (/-(?:wal|shm|journal)$/.test(named)) {
    throw new Refusal(EXIT.badInput, 'bad input', `${named} is a name that SQLite uses itself; name another file`);
  }
  if (!isFolder(dirname(named))) {
    throw new Refusal(EXIT.badInput, 'bad input', `there is no folder ${dirname(named)}; make it first`);
  }
  assertFree(named);
  return () => named;
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function describe(file: string, { size, root, problems }: LedgerReport): Outcome {
  const bytes = statSync(file).size;
  const first = problems[0];
  if (first === undefined) {
    const lines = [file, `whole: ${size} entries, ${bytes} bytes, root ${root}`];
    return { exitCode: EXIT.done, verdict: 'whole', lines, facts: { file, size, bytes, root, problems } };
  }
  const lines = [
    file,
    `TAMPERED: ${problems.length} problem(s) in ${size} entries, the first at ${first.place}: ${first.problem}`,
    'The copy is exact and is kept as evidence; restore will not take it. An older backup may be whole.',
  ];
  return { exitCode: EXIT.refused, verdict: 'tampered', lines, facts: { file, size, bytes, root, problems } };
}
