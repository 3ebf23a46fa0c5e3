import { join } from 'node:path';
import { Argument, Option } from 'commander';
import { locateDatabase } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { overwriteFreePages } from '../../db/sqlite/files/overwrite-free-pages.ts';
import { type Decision, findRedactionOf } from '../../domains/redaction/repository.ts';
import { AdvisedError, toError } from '../../errors.ts';
import type { Disclosed } from '../../integrity/index.ts';
import { spoolOf } from '../../recorder/spool.ts';
import { type Person, type PersonOptions, requireWriter, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS, parseReason, readReason, WRITE_EXIT_CODES } from '../people/run-person.ts';
import { findCallOf, listEntriesOf } from '../query/record-entries.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { askYesOrNo, canAsk, print } from '../support/print.ts';
import { listNames, plural } from '../views/terminal.ts';
import { listCopies, listSpooledCopies, MAX_COPIES, piecesOf, textsIn } from './find-copies.ts';
import { readRedactable, redactEntry } from './redact-entry.ts';

interface RedactOptions extends PersonOptions {
  readonly reason: string;
  readonly yes?: boolean;
}

export const redact: CliCommand<RedactOptions, string> = {
  name: 'redact',
  summary: 'permanently remove the content of a record; its entry stays in the log',
  argument: new Argument('<record>', 'the index of an entry, or an id: T-0042, A-0003, \u0398-0012'),
  options: [
    new Option('--reason <why>', 'why the content goes, or - for standard input; it is recorded')
      .argParser(parseReason)
      .makeOptionMandatory(),
    new Option('--yes', 'do not ask'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'Removes what was written and its salt: the text of a thought, the texts of a task in every version, the reason of a session, the arguments of a call, what a hook reported. The arguments of the call that wrote a record go with it. The entry stays with its digest, and a new entry names you and the reason. colibri verify then reports the content as redacted, and as forged if it comes back.',
    'This cannot be undone. States, numbers and names of a task stay, and so do the names of actors, tools and files in entries. It does not reach backups, bundles, notes, copies of the ledger, git and transcripts of clients. Other records that have the same text are listed: redact them, too.',
    'SQLite: the file is then vacuumed, so that no text remains in free pages; writers wait until it finishes. PostgreSQL: needs the role of the owner; old rows are on disk until VACUUM FULL (docs/postgres.md).',
  ],
  examples: [
    ['colibri redact \u0398-0012 --reason "contains a password"'],
    ['colibri redact T-0042 --reason "names a customer"', 'every version of the task'],
    ['colibri redact 128 --reason "a token in the arguments" --yes --json'],
  ],
  exitCodes: { ...WRITE_EXIT_CODES, 0: 'redacted and recorded' },
  run: ({ reason, yes = false, ...options }, record) =>
    reportResult('redact', options.json ?? false, async () => {
      const request = { reason: await readReason(reason), mayAsk: options.json !== true, yes };
      const done = await withPerson(options, (person) => redactRecord(person, record, request));
      // After the ledger is closed: a transaction is either whole or not there, and only then old pages may go.
      return finish(done);
    }),
};

interface Request {
  readonly reason: string;
  readonly mayAsk: boolean;
  readonly yes: boolean;
}

interface Redacted {
  readonly entry: number;
  /** Index of the redaction entry. */
  readonly redaction: number;
}

interface Done {
  readonly redacted: readonly Redacted[];
  readonly earlier: readonly Redacted[];
  /** Other entries and files with the same text. */
  readonly copies: readonly number[];
  readonly files: readonly string[];
  /** Undefined for PostgreSQL, which overwrites its pages itself. */
  readonly file: string | undefined;
}

async function redactRecord(person: Person, record: string, { reason, mayAsk, yes }: Request): Promise<Done> {
  const database = requireWriter(person);
  const spool = spoolOf(locateDatabase(person.config));
  const plan = await database.read((reader) => makePlan(reader, record));
  if (plan.entries.length > 0 && !yes && !(mayAsk && (await isConfirmed(plan.entries, reason))))
    throw new CommandError('refused', 'not confirmed', { advice: 'pass --yes' });
  const decision: Decision = { reason, actor: person.actor, at: new Date().toISOString() };
  const { redacted, earlier } = await database.write({ durable: 'always' }, async (db) => {
    // The plan is made again: an agent may have changed the task since, or another person redacted it.
    const now = await makePlan(db, record);
    const done: Redacted[] = [];
    for (const entry of now.entries) done.push({ entry, redaction: await redactEntry(db, entry, decision) });
    return { redacted: done, earlier: now.earlier };
  });
  const copies = await database.read((reader) => listCopies(reader, plan.pieces));
  return {
    redacted,
    earlier,
    copies,
    files: listSpooledCopies(spool, plan.pieces).map((name) => join(spool, name)),
    file: database.engine === 'sqlite' ? locateDatabase(person.config) : undefined,
  };
}

interface Plan {
  /** Entry indexes in ascending order. */
  readonly entries: readonly number[];
  readonly earlier: readonly Redacted[];
  readonly pieces: readonly string[];
}

/** The entries of a record whose content is still there, with those of the calls that wrote it. */
async function makePlan(db: Reader, record: string): Promise<Plan> {
  const named = await listEntriesOf(db, record);
  const calls: number[] = [];
  for (const entry of named) calls.push(...[(await findCallOf(db, entry)) ?? []].flat());
  const entries: number[] = [];
  const earlier: Redacted[] = [];
  const contents: Disclosed[] = [];
  for (const entry of [...new Set([...named, ...calls])].sort((left, right) => left - right)) {
    const redaction = await findRedactionOf(db, entry);
    if (redaction !== undefined) {
      earlier.push({ entry, redaction });
      continue;
    }
    const { entry: fields, disclosed } = await readRedactable(db, entry);
    // A call that only moved the task repeats none of its texts.
    const isUpdate = fields.kind === 'action.enter' && fields['tool'] === 'task_update';
    if (isUpdate && !named.includes(entry) && textsIn(disclosed.text).length === 0) continue;
    contents.push(disclosed);
    entries.push(entry);
  }
  return { entries, earlier, pieces: piecesOf(contents) };
}

async function isConfirmed(entries: readonly number[], reason: string): Promise<boolean> {
  if (!canAsk()) return false;
  print([
    `This permanently removes the content of ${entriesText(entries)}. Reason: ${reason}`,
    'Copies elsewhere (backups, bundles, notes) keep it.',
  ]);
  return askYesOrNo('Remove it?');
}

async function finish({ redacted, earlier, copies, files, file }: Done): Promise<CommandResult> {
  const facts = { redacted, earlier, copies, files };
  const least = copies.length === MAX_COPIES ? 'at least ' : '';
  const lines = [
    ...[...redacted].map(({ entry, redaction }) => `entry ${entry} is redacted (entry ${redaction})`),
    ...[...earlier].map(({ entry, redaction }) => `entry ${entry} was redacted before (entry ${redaction})`),
    ...(copies.length === 0
      ? []
      : [`The same text is in ${least}${entriesText(copies)}: run colibri redact for each that must go.`]),
    ...(files.length === 0 ? [] : [`Files that no server has read have the same text: ${listNames(files)}`]),
  ];
  if (file === undefined)
    return {
      verdict: 'done',
      lines: [...lines, 'PostgreSQL keeps old rows until VACUUM FULL: see docs/postgres.md.'],
      facts,
    };
  try {
    await overwriteFreePages(file);
  } catch (thrown) {
    const cause = toError(thrown);
    const problem = cause instanceof AdvisedError ? cause.problem : cause.message;
    throw new CommandError('cannot tell', `the record is redacted, but free pages may still hold it: ${problem}`, {
      advice: 'run the same command again',
      facts,
      more: lines,
      cause,
    });
  }
  return { verdict: 'done', lines: [...lines, 'The file was vacuumed: no removed text remains in it.'], facts };
}

function entriesText(entries: readonly number[]): string {
  const shown = entries.slice(0, MAX_SHOWN).join(', ');
  const more = entries.length > MAX_SHOWN ? ` and ${entries.length - MAX_SHOWN} more` : '';
  return `${plural(entries.length, 'entry', 'entries')} (${shown}${more})`;
}

const MAX_SHOWN = 20;
