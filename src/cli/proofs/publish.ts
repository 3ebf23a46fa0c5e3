import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Argument } from 'commander';
import { assertExtends } from '../../checkpoints/rollback.ts';
import { ColibriError } from '../../errors.ts';
import { BadFormat, parseCheckpoint } from '../../integrity/index.ts';
import { type Person, type PersonOptions, withReader } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { withProgress } from '../support/progress-bar.ts';
import { signForOthers } from '../witnesses/attest.ts';
import { TILE, tilePath, writePublic, writeTiles } from './tiles.ts';

export const publish: CliCommand<PersonOptions, string> = {
  name: 'publish',
  summary: 'write the log as static files that any web server can serve and anyone can audit',
  argument: new Argument('<dir>', 'the folder; a later run adds what is new'),
  options: [...PERSON_OPTIONS],
  details: [
    'The files are C2SP tlog-tiles: checkpoint, tile/… with hashes, tile/entries/… with the entries. Entries have only digests of what agents and people wrote, but they show names of agents and tools, times and ids.',
    'Files never change once they are full, so a copy on another machine is a witness. The checkpoint is written last.',
    'The format allows entries of 65,535 bytes. Only one that names hundreds of tasks can be longer, such as the seal of a session over all of them; the file of entries with it is left out, and the tiles with its hash are written.',
  ],
  examples: [['colibri publish public/log'], ['colibri publish public/log --json | jq .size']],
  exitCodes: {
    0: 'published',
    1: 'the folder has another history or links, or the log is not what was signed',
    2: 'cannot tell',
    3: 'bad input',
  },
  run: (options, folder) =>
    reportResult('publish', options.json ?? false, () =>
      withReader(options, (person) => publishTo(person, resolve(folder))),
    ),
};

async function publishTo(person: Person, folder: string): Promise<CommandResult> {
  assertFolder(folder);
  const file = join(folder, 'checkpoint');
  const before = existsSync(file) ? readCheckpoint(file) : undefined;
  const checkpoint = await signForOthers(person);
  const { origin, size, root } = parseCheckpoint(checkpoint);
  if (before !== undefined && before.origin !== origin)
    throw new CommandError('differs', `${folder} has another log, ${before.origin}`, {
      advice: 'choose another folder',
    });
  const written = await withProgress('publishing', (progress) =>
    person.read(async (reader) => {
      if (before !== undefined) await refuseFork(() => assertExtends(reader, before), folder);
      return writeTiles(reader, folder, { from: before?.size ?? 0, to: size, root, progress });
    }),
  );
  if (written === undefined) throw new CommandError('cannot tell', 'there is no ledger to read');
  // The same size may have more cosignatures now.
  if (before?.text !== checkpoint) writePublic(folder, 'checkpoint', checkpoint);
  const { files, tooLong } = written;
  const added = size - (before?.size ?? 0);
  const lines = [folder, `${size} entries, ${added} new, in ${files} new files`, ...tooLong.map(describeTooLong)];
  const facts = { folder, origin, size, new_entries: added, files, too_long: tooLong };
  return { verdict: 'done', lines, facts };
}

/** The folder, or the nearest one above it that exists, must be one. */
function assertFolder(path: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw new CommandError('bad input', `${path} is not a folder`, { advice: 'choose another one' });
  }
  if (dirname(path) !== path) assertFolder(dirname(path));
}

function describeTooLong(index: number): string {
  const file = tilePath('entries', Math.floor(index / TILE));
  return `entry ${index} is longer than the format allows: ${file} is not written, but the tiles have its hash`;
}

function readCheckpoint(file: string) {
  try {
    const text = readFileSync(file, 'utf8');
    return { ...parseCheckpoint(text), text };
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    throw new CommandError('bad input', `${file} is not a checkpoint: ${error.message}`, {
      advice: 'choose another folder',
    });
  }
}

async function refuseFork(work: () => Promise<void>, folder: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ColibriError) throw new CommandError('differs', `${folder}: ${error.problem}`);
    throw error;
  }
}
