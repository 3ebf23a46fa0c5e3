import { randomBytes } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Argument } from 'commander';
import { locateDatabase } from '../../config.ts';
import { copySqlite } from '../../db/sqlite/files/copy.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { assertFree, isFolder, isSideFile, publish, removeDatabase, timeStamp } from '../support/atomic-file.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { JSON_OPTION } from '../support/options.ts';
import { withProgress } from '../support/progress-bar.ts';
import { assertSqliteLedger } from '../support/require-sqlite.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { describeProblems, describeWhole } from '../views/problems.ts';

export const backup: CliCommand<{ readonly json?: boolean }, string | undefined> = {
  name: 'backup',
  summary: 'make a verified copy of the ledger while servers run',
  argument: new Argument('[file]', 'the file or folder to write to'),
  options: [JSON_OPTION],
  details: [
    'The copy is one snapshot of the ledger and readable by its owner only. Its name appears after it was verified. Without a file, or with a folder, the name is made of the time and the number of entries.',
    'A ledger that does not verify is still copied, as evidence. A ledger with a changed schema is not copied, because triggers and views in the copy could run.',
  ],
  examples: [
    ['colibri backup', 'beside the ledger'],
    ['colibri backup /media/usb', 'in that folder'],
    ['colibri backup monday.db', 'to that file, which must not exist yet'],
    ['colibri backup --json | jq -r .file'],
  ],
  exitCodes: { 0: 'done', 1: 'the ledger does not verify', 2: 'cannot tell', 3: 'bad input' },
  run: ({ json = false }, file) => reportResult('backup', json, () => backUp(file)),
};

async function backUp(file: string | undefined): Promise<CommandResult> {
  const config = readProjectConfig();
  assertSqliteLedger('backup', config);
  const ledger = locateDatabase(config);
  const nameFor = chooseName(file, ledger);
  await withLedger(config, () => Promise.resolve());
  const folder = dirname(nameFor(0));
  assertWritable(folder);
  const partial = join(folder, `colibri-backup-${randomBytes(4).toString('hex')}.partial`);
  return withCleanUp(
    () => removeDatabase(partial),
    async () => {
      await copySqlite(ledger, partial);
      const report = await withProgress('verifying the copy', (update) =>
        withLedger({ dbPath: partial }, (reader) => verifyEverything(createYieldingReader(reader), update)),
      );
      const target = nameFor(report.size);
      publish(partial, target);
      return describe(target, report);
    },
  );
}

/** The name of the copy contains its size, which is known only after the copy was made. */
function chooseName(file: string | undefined, ledger: string): (size: number) => string {
  const named = resolve(file ?? dirname(ledger));
  if (file === undefined || isFolder(named)) {
    const extension = extname(ledger);
    const stem = `${basename(ledger, extension)}-${timeStamp()}`;
    return (size) => join(named, `${stem}-${size}${extension}`);
  }
  if (isSideFile(named)) {
    throw new CommandError('bad input', `SQLite reserves the name ${named}`, { advice: 'choose another file' });
  }
  assertFree(named);
  return () => named;
}

/** A ledger that may only be read can be backed up to another folder. */
function assertWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new CommandError('cannot tell', `${folder} is not writable`, {
      advice: 'name a folder of yours: colibri backup FOLDER',
    });
  }
}

function describe(file: string, { size, root, problems }: LedgerReport): CommandResult {
  const bytes = statSync(file).size;
  const facts = { file, size, bytes, root, problems };
  if (problems.length === 0)
    return { verdict: 'whole', lines: [file, `${describeWhole(size, root)}, ${bytes} bytes`], facts };
  const lines = [
    file,
    `TAMPERED: ${describeProblems(problems)}`,
    'The copy is exact; keep it as evidence. colibri restore does not accept it. Look for an older backup that is whole.',
  ];
  return { verdict: 'tampered', lines, facts };
}
