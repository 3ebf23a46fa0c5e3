import { Option } from 'commander';
import { printError } from '../../print-error.ts';
import { createExporter, type ExportReport } from '../notes/export-notes.ts';
import { openVault } from '../notes/vault/folder.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { assertNotDeleted } from '../support/deleted-ledger.ts';
import { JSON_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { type ReadableLedger, readProjectConfig, withDatabase } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { plural } from '../views/terminal.ts';
import { abortOnSignals } from '../watch/ledger-changes.ts';
import { watchLedger } from './watch.ts';

interface ExportOptions {
  readonly markdown?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** The command is named `export`, which is a keyword. */
export const exportCommand: CliCommand<ExportOptions> = {
  name: 'export',
  summary: 'write the ledger as Markdown notes: a vault for Obsidian or any editor',
  options: [
    new Option('--markdown <dir>', 'write one note per task, session, agent and day into this folder'),
    new Option('--watch', 'keep the notes current until Ctrl-C'),
    JSON_OPTION,
  ],
  details: [
    'The folder becomes tasks/T-0042.md, sessions/A-0003.md, agents/claude-code.md, days/2026-04-08.md and Colibri.md, with front matter and wikilinks. An export is one-way and changes only the notes whose records changed; the notes are readable by their owner only.',
    'Write below the marked line at the end of a note: that text, and properties that you add, stay. What is above the line is replaced. A file that is not from this ledger is left alone with a warning. Nothing is deleted: a note whose record is gone is marked.',
    'Text that agents wrote is shown as it is: it contains no links, tags, HTML or code of plug-ins.',
  ],
  examples: [
    ['colibri export --markdown ~/vault/colibri'],
    ['colibri export --markdown notes --watch', 'while agents work'],
    [`colibri export --markdown notes --json | jq .left_alone`],
  ],
  exitCodes: { 0: 'done', 2: 'cannot read the ledger or write the notes', 3: 'bad input' },
  run: (options) => reportResult('export', options.json ?? false, () => runExport(options)),
};

async function runExport({ markdown, watch = false, json = false }: ExportOptions): Promise<CommandResult> {
  if (markdown === undefined)
    throw new CommandError('bad input', 'nothing to write', { advice: 'pass a folder for the notes: --markdown DIR' });
  const config = readProjectConfig();
  assertNotDeleted(config);
  const interrupted = abortOnSignals();
  return withDatabase(config, async (database) => {
    const root = openVault(markdown, process.cwd());
    const run = createExporter(root, interrupted);
    const exportOnce = (ledger: ReadableLedger) => ledger.read((db) => run(createYieldingReader(db)));
    const report = await exportOnce(database);
    warn(report);
    if (!watch || interrupted.aborted) return describe(root, report);
    if (!json) print([...describe(root, report).lines, 'Watching the ledger. Press Ctrl-C to stop.']);
    await watchLedger(database, interrupted, async () => {
      const next = await exportOnce(database);
      warn(next);
      if (next.written === 0) return;
      if (json) printJson(factsOf(root, next));
      else print(`${plural(next.written, 'note')} written.`);
    });
    return json ? describe(root, await exportOnce(database)) : { verdict: 'done', lines: ['Stopped.'], facts: {} };
  });
}

function describe(root: string, report: ExportReport): CommandResult {
  const { notes, written, left_alone } = report;
  const alone = left_alone.length === 0 ? '' : `, ${left_alone.length.toLocaleString('en')} left alone`;
  const text = written === 0 ? 'none has changed' : `${written.toLocaleString('en')} written`;
  return {
    verdict: 'done',
    lines: [`${root}: ${plural(notes, 'note')}, ${text}${alone}.`],
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
    .map(({ path, reason }) => `colibri export: ${path} ${reason}; left alone`);
  const more = left_alone.length - lines.length;
  if (left_alone.length > 0)
    printError([...lines, ...(more > 0 ? [`colibri export: ${more.toLocaleString('en')} more notes left alone`] : [])]);
}
