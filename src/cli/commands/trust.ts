import { lstatSync } from 'node:fs';
import { Option } from 'commander';
import { type Config, describeLocation, locateDatabase } from '../../config.ts';
import type { Acceptance } from '../../trust/acceptance.ts';
import { judgeLedger, type Trust } from '../../trust/assert-trusted.ts';
import { acceptLedger } from '../support/accept-ledger.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { describeContents, type ExaminedLedger, examineLedger } from '../support/examine-ledger.ts';
import { JSON_OPTION } from '../support/options.ts';
import { askYesOrNo, canAsk, print } from '../support/print.ts';
import { readProjectConfig } from '../support/with-ledger.ts';

interface TrustOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const trust: CliCommand<TrustOptions> = {
  name: 'trust',
  summary: 'accept a ledger that came with a clone, after showing and verifying it',
  options: [new Option('--yes', 'accept the ledger without asking'), JSON_OPTION],
  details: [
    'A ledger that git tracks, or that other users can read, was not created here by Colibri, so no server or command opens it. This command shows its contents and verifies all of it, without changing anything.',
    'If you accept it, the acceptance of this ledger at this path is stored in your configuration folder, and its files become private. A ledger that was tampered with is not accepted, nor is a link or a file of another user; set COLIBRI_DB_PATH to open any file.',
  ],
  examples: [
    ['colibri trust', 'show the ledger of this project, then ask'],
    ['colibri trust --yes', 'accept it without asking, if it verifies'],
    ['colibri trust --json | jq .agents', 'show its contents to a script; accepts nothing without --yes'],
  ],
  exitCodes: { 0: 'accepted, or nothing to accept', 1: 'refused or not accepted', 2: 'cannot tell', 3: 'bad input' },
  run: ({ yes = false, json = false }) => reportResult('trust', json, () => trustLedger(yes, json)),
};

async function trustLedger(yes: boolean, json: boolean): Promise<CommandResult> {
  const config = readProjectConfig();
  const path = locateProjectLedger(config);
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
    verdict: 'accepted',
    lines: [...(yes ? shown : []), `accepted${file === undefined ? '' : `; stored in ${file}`}`],
    facts: { ...facts, ...(file === undefined ? {} : { noted_in: file }) },
  };
}

/** Undefined if COLIBRI_DB_PATH names the file. */
function locateProjectLedger(config: Config): string | undefined {
  if (config.databaseUrl !== undefined)
    throw new CommandError(
      'bad input',
      `the ledger is in ${describeLocation(config)}, and colibri trust works on SQLite files only`,
      { advice: 'use the roles of PostgreSQL' },
    );
  const path = locateDatabase(config);
  if (config.dbPath !== undefined) return undefined;
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  throw new CommandError('bad input', `no ledger at ${path}`, { advice: 'run this in a project that has one' });
}

function named(config: Config): CommandResult {
  const file = locateDatabase(config);
  const text = `COLIBRI_DB_PATH names ${file}, so it is opened without acceptance; there is nothing to accept`;
  return { verdict: 'named', lines: [text], facts: { file } };
}

function nothingToAccept(file: string): CommandResult {
  const text = `${file} shows no sign of coming from elsewhere; there is nothing to accept`;
  return { verdict: 'own', lines: [text], facts: { file } };
}

function alreadyAccepted(file: string, { acceptedAt, ledgerId }: Acceptance): CommandResult {
  const text = `${file} was accepted on ${acceptedAt}`;
  return { verdict: 'accepted', lines: [text], facts: { file, ledger_id: ledgerId } };
}

function assertAcceptable({ concerns, error }: Extract<Trust, { verdict: 'refused' }>): void {
  if (concerns.every(({ isAcceptable }) => isAcceptable)) return;
  const reasons = concerns.map(({ path, says }) => `${path} ${says}`);
  throw new CommandError('refused', error.problem, { advice: error.advice, facts: { reasons } });
}

async function isConfirmed(shown: readonly string[], json: boolean): Promise<boolean> {
  if (json || !canAsk()) return false;
  print(shown);
  return askYesOrNo('Use this ledger?');
}

function notAccepted(shown: readonly string[], facts: ExaminedLedger['facts']): CommandError {
  if (canAsk()) return new CommandError('not accepted', 'not accepted', { facts });
  const advice = 'run colibri trust --yes to accept it without asking';
  return new CommandError('not accepted', 'not accepted', { advice, facts, more: shown });
}
