import { lstatSync } from 'node:fs';
import type { Command } from 'commander';
import { type Config, describeLocation, locateDatabase } from '../../config.ts';
import type { Acceptance } from '../../trust/acceptance.ts';
import { judgeLedger, type Trust } from '../../trust/assert-trusted.ts';
import { acceptLedger } from '../support/accept-ledger.ts';
import { EXIT, type Outcome, Refusal, reportOutcome } from '../support/command-result.ts';
import { describeContents, type ExaminedLedger, examineLedger } from '../support/examine-ledger.ts';
import { askYesOrNo, canAsk, print } from '../support/print.ts';
import { projectConfig } from '../support/with-ledger.ts';

const HELP = `
A ledger that git tracks, or that other users may read, was not made by Colibri here: no server or command opens it.
This command shows what it holds and verifies all of it, without changing anything. If you accept it, that is noted in
your own configuration folder, for this ledger in this place, and its files are closed to other users. A ledger that is
tampered with is not accepted, nor is one that is a link or belongs to another user; COLIBRI_DB_PATH opens any file.

Examples:
  colibri trust                        show the ledger of this project, then ask
  colibri trust --yes                  accept it without asking, if it verifies
  colibri trust --json | jq .agents    what it holds, for scripts; accepts nothing without --yes

Exit codes: 0 accepted or nothing to accept, 1 refused or not accepted, 2 cannot tell, 3 bad input.`;

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function addTrust(program: Command): void {
  program
    .command('trust')
    .description('accept a ledger that came with a clone, after showing what it holds and that it verifies')
    .option('--yes', 'accept it without asking')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', HELP)
    .action(({ yes = false, json = false }: Options) => reportOutcome('trust', json, () => trust(yes, json)));
}

async function trust(yes: boolean, json: boolean): Promise<Outcome> {
  const config = projectConfig();
  const path = locateUnnamed(config);
  if (path === undefined) return named(config);
  const judged = await judgeLedger(path);
  if (judged.verdict === 'own') return nothingToAccept(path);
  if (judged.verdict === 'accepted') return alreadyAccepted(path, judged.acceptance);
  assertAcceptable(judged);
  const examined = await examineLedger(path);
  const reasons = judged.concerns.map((concern) => `${concern.path} ${concern.says}`);
  const facts = { file: path, reasons, ...examined.facts };
  const shown = [path, ...reasons.map((reason) => `  ${reason}`), ...describeContents(examined)];
  if (!yes && !(await isConfirmed(shown, json))) throw notAccepted(json ? [] : shown, facts);
  const { file } = acceptLedger(path, examined.identity);
  return {
    exitCode: EXIT.done,
    verdict: 'accepted',
    lines: [...(yes ? shown : []), `accepted${file === undefined ? '' : `; noted in ${file}`}`],
    facts: { ...facts, ...(file === undefined ? {} : { noted_in: file }) },
  };
}

/** Undefined when COLIBRI_DB_PATH names the file. */
function locateUnnamed(config: Config): string | undefined {
  if (config.databaseUrl !== undefined)
    throw new Refusal(
      EXIT.badInput,
      'bad input',
      `the ledger is in ${describeLocation(config)}; trust is for files, PostgreSQL has roles of its own`,
    );
  const path = locateDatabase(config);
  if (config.dbPath !== undefined) return undefined;
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  throw new Refusal(EXIT.badInput, 'bad input', `there is no ledger at ${path}; run this in the project that has one`);
}

function named(config: Config): Outcome {
  const file = locateDatabase(config);
  const text = `COLIBRI_DB_PATH names ${file}, which is reason enough to open it; there is nothing to accept`;
  return { exitCode: EXIT.done, verdict: 'named', lines: [text], facts: { file } };
}

function nothingToAccept(file: string): Outcome {
  const text = `${file} shows no sign of having come from elsewhere; there is nothing to accept`;
  return { exitCode: EXIT.done, verdict: 'own', lines: [text], facts: { file } };
}

function alreadyAccepted(file: string, { acceptedAt, ledgerId }: Acceptance): Outcome {
  const text = `${file} was accepted on ${acceptedAt}`;
  return { exitCode: EXIT.done, verdict: 'accepted', lines: [text], facts: { file, ledger_id: ledgerId } };
}

function assertAcceptable({ concerns, error }: Extract<Trust, { verdict: 'refused' }>): void {
  if (concerns.every(({ isAcceptable }) => isAcceptable)) return;
  const reasons = concerns.map(({ path, says }) => `${path} ${says}`);
  throw new Refusal(EXIT.refused, 'refused', error.message, { reasons });
}

async function isConfirmed(shown: readonly string[], json: boolean): Promise<boolean> {
  if (json || !canAsk()) return false;
  print(shown);
  return askYesOrNo('Use this ledger?');
}

function notAccepted(shown: readonly string[], facts: ExaminedLedger['facts']): Refusal {
  const wasAsked = canAsk();
  const message = wasAsked ? 'not accepted' : 'not accepted; colibri trust --yes accepts it without asking';
  return new Refusal(EXIT.refused, 'not accepted', message, facts, wasAsked ? [] : shown);
}
