import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { BundleScope } from '../../integrity/index.ts';
import { printError } from '../../print-error.ts';
import { createExporter, type ExportReport } from '../notes/export-notes.ts';
import { openVault } from '../notes/vault/folder.ts';
import { type PersonOptions, withReader } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import { makeBundle } from '../proofs/make-bundle.ts';
import { readPage } from '../proofs/page.ts';
import { parseSince } from '../query/since.ts';
import { writeNewFile } from '../support/atomic-file.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { assertNotDeleted } from '../support/deleted-ledger.ts';
import { print, printJson } from '../support/print.ts';
import { findSessionId, parseTaskId } from '../support/task-argument.ts';
import { type ReadableLedger, readProjectConfig, withDatabase } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { plural } from '../views/terminal.ts';
import { abortOnSignals } from '../watch/ledger-changes.ts';
import { watchLedger } from './watch.ts';

interface ExportOptions extends PersonOptions {
  readonly task?: string;
  readonly session?: string;
  readonly all?: boolean;
  readonly since?: string;
  readonly out?: string;
  readonly redact?: boolean;
  readonly at?: string;
  readonly html?: boolean;
  readonly markdown?: string;
  readonly watch?: boolean;
}

/** The command is named `export`, which is a keyword. */
export const exportCommand: CliCommand<ExportOptions> = {
  name: 'export',
  summary: 'write a bundle or a page that others can verify, or the ledger as Markdown notes',
  options: [
    new Option('--task <id>', 'bundle: everything about this task').argParser(parseTaskId),
    new Option('--session <id>', 'bundle: the records and the seal of this session').argParser(parseSessionId),
    new Option('--since <time>', 'bundle: every entry since this time, such as 2d or 2026-04-08').argParser((text) =>
      parseSince(text, Date.now()),
    ),
    new Option('--all', 'bundle: the whole log'),
    new Option('-o, --out <file>', 'the file to write, which must not exist yet'),
    new Option('--redact', 'bundle: leave out what agents and people wrote; only digests stay'),
    new Option('--at <file>', 'bundle: as of the checkpoint in this file, instead of signing a new one'),
    new Option('--html', 'write a page that shows and checks the bundle; alone, the page without a bundle'),
    new Option('--markdown <dir>', 'write one note per task, session, agent and day into this folder'),
    new Option('--watch', 'keep the notes current until Ctrl-C'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'A bundle holds entries of the log as they are, what they have digests of, the proof that they are in the log, and a checkpoint that is signed now. colibri verify FILE --key KEY checks it without a ledger and without a network.',
    'With --html, the file is a page for people who have only a browser: it checks the bundle in it, shows board, timeline and Merkle tree, and uses no network. A page that came with a bundle can lie: a careful reader opens a page of their own, made by colibri export --html --out verifier.html, and drops the file into it.',
    'The folder becomes tasks/T-0042.md, sessions/A-0003.md, agents/claude-code.md, days/2026-04-08.md and Colibri.md, with front matter and wikilinks. An export is one-way and changes only the notes whose records changed; the notes are readable by their owner only.',
    'Write below the marked line at the end of a note: that text, and properties that you add, stay. What is above the line is replaced. Files that this ledger did not write are skipped with a warning. Nothing is deleted: a note whose record is gone is marked.',
    'Text that agents wrote is shown as it is: it contains no links, tags, HTML or code of plug-ins.',
    'With --watch --json, prints one JSON object per line whenever notes were written, and the totals at the end.',
  ],
  examples: [
    ['colibri export --task T-0042 --out task.colibri', 'to show to an auditor, with the output of colibri key'],
    ['colibri export --all --redact --out log.colibri', 'proves the order of everything, and shows nothing'],
    ['colibri export --task T-0042 --html --out task.html', 'the same for a browser'],
    ['colibri export --html --out verifier.html', 'your own verifier: drop any bundle into it'],
    ['colibri export --markdown ~/vault/colibri'],
    ['colibri export --markdown notes --watch', 'while agents work'],
    [`colibri export --markdown notes --json | jq .left_alone`],
  ],
  exitCodes: {
    0: 'done',
    1: 'the log is not what was signed',
    2: 'cannot read the ledger or write the notes',
    3: 'bad input',
  },
  run: (options) => reportResult('export', options.json ?? false, () => choose(options)),
};

function choose(options: ExportOptions): Promise<CommandResult> {
  if (scopesOf(options).length > 0) return exportBundle(options);
  return options.html === true ? exportPage(options) : exportNotes(options);
}

async function exportBundle(options: ExportOptions): Promise<CommandResult> {
  const { out, redact = false, html = false, markdown, at } = options;
  const [scope, ...more] = scopesOf(options);
  if (scope === undefined || more.length > 0 || markdown !== undefined)
    throw new CommandError('bad input', 'an export has one subject', {
      advice: 'pass one of --task, --session, --since, --all and --markdown',
    });
  if (out === undefined) throw new CommandError('bad input', 'a bundle needs a file', { advice: 'pass --out FILE' });
  return withReader(options, (person) =>
    makeBundle(person, { scope, out, redact, at, ...(html && { page: 'claims' }) }),
  );
}

/** The page alone: what a careful reader uses instead of one that came with a bundle. Needs no ledger. */
async function exportPage({ out, redact, at, markdown, watch }: ExportOptions): Promise<CommandResult> {
  if (out === undefined) throw new CommandError('bad input', 'a page needs a file', { advice: 'pass --out FILE' });
  if ((redact ?? at ?? markdown ?? watch) !== undefined)
    throw new CommandError('bad input', 'a page without a bundle takes only --out', {
      advice: 'pass one of --task, --session, --since and --all for a page with a bundle',
    });
  const file = resolve(out);
  const { text, digest } = readPage();
  writeNewFile(file, text);
  const lines = [file, `SHA-256 ${digest}: the same for every copy of this version`];
  return { verdict: 'done', lines, facts: { file, sha256: digest } };
}

function scopesOf({ task, session, since, all = false }: ExportOptions): BundleScope[] {
  return [
    ...(task === undefined ? [] : [{ kind: 'task', task_id: task } as const]),
    ...(session === undefined ? [] : [{ kind: 'session', session_id: session } as const]),
    ...(since === undefined ? [] : [{ kind: 'since', since } as const]),
    ...(all ? [{ kind: 'ledger' } as const] : []),
  ];
}

function parseSessionId(text: string): string {
  const id = findSessionId(text);
  if (id !== undefined) return id;
  throw new InvalidArgumentError('Write the id of a session as A-0007 or a-7.');
}

async function exportNotes({ markdown, watch = false, json = false }: ExportOptions): Promise<CommandResult> {
  if (markdown === undefined)
    throw new CommandError('bad input', 'nothing to write', {
      advice: 'pass --task, --session, --since or --all with --out FILE, or --markdown DIR',
    });
  const config = readProjectConfig();
  assertNotDeleted(config);
  const interrupted = abortOnSignals();
  return withDatabase(config, async (database) => {
    const root = openVault(markdown, process.cwd());
    const run = createExporter(root, interrupted);
    const exportOnce = (ledger: ReadableLedger) => ledger.read((db) => run(createYieldingReader(db)));
    let report = await exportOnce(database);
    warn(report);
    if (!watch) return describe(root, assertFinished(report, interrupted));
    if (json) printJson(factsOf(root, report));
    else print([...describe(root, report).lines, 'Watching the ledger. Press Ctrl-C to stop.']);
    await watchLedger(database, interrupted, async () => {
      const next = await exportOnce(database);
      warn(next);
      report = { ...next, written: report.written + next.written };
      if (next.written === 0) return;
      if (json) printJson(factsOf(root, next));
      else print(`${plural(next.written, 'note')} written.`);
    });
    return { ...describe(root, report), ...(json ? {} : { lines: ['Stopped.'] }) };
  });
}

function assertFinished(report: ExportReport, { aborted }: AbortSignal): ExportReport {
  if (!aborted) return report;
  throw new CommandError('cannot tell', `stopped after ${plural(report.written, 'note')}`, {
    advice: 'run it again to write the others',
  });
}

function describe(root: string, report: ExportReport): CommandResult {
  const { notes, written, left_alone } = report;
  const skipped = left_alone.length === 0 ? '' : `, ${left_alone.length.toLocaleString('en')} skipped`;
  const text = written === 0 ? 'none has changed' : `${written.toLocaleString('en')} written`;
  return {
    verdict: 'done',
    lines: [`${root}: ${plural(notes, 'note')}, ${text}${skipped}.`],
    facts: factsOf(root, report),
  };
}

function factsOf(folder: string, { notes, written, left_alone }: ExportReport) {
  return { folder, notes, written, left_alone };
}

const MAX_WARNINGS = 20;

function warn({ left_alone }: ExportReport): void {
  const lines = left_alone
    .slice(0, MAX_WARNINGS)
    .map(({ path, reason }) => `colibri export: ${path} ${reason}; skipped`);
  const more = left_alone.length - lines.length;
  if (left_alone.length > 0)
    printError([...lines, ...(more > 0 ? [`colibri export: ${more.toLocaleString('en')} more notes skipped`] : [])]);
}
