import type { Config } from '../../config.ts';
import { toError } from '../../errors.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { openStatusLine, print, printJson } from '../support/print.ts';
import { findTerminal } from '../views/terminal.ts';
import { besideTerm, printable } from '../views/text-width.ts';
import { checkWitnesses } from '../witnesses/check-witnesses.ts';
import { killGroups, whenEnded } from './child-groups.ts';
import { checkClients } from './clients.ts';
import { type Finding, failFrom } from './finding.ts';
import { checkGitHooks } from './git-hooks.ts';
import { checkLedger } from './ledger.ts';
import { checkMachine, checkSqlite } from './machine.ts';
import { checkPostgres } from './postgres.ts';
import { checkRecorder } from './recorder.ts';
import { checkSettings } from './settings.ts';
import { checkSkills } from './skills.ts';

/** Returns the exit code. */
export async function runDoctor({ json, runAll }: { json: boolean; runAll: boolean }): Promise<number> {
  const findings = await withCleanUp(killGroups, () => withStatus(() => examine(runAll)));
  const hasFailed = findings.some(({ status }) => status === 'fail');
  if (json) printJson({ ok: !hasFailed, checks: findings });
  else print(findings.flatMap(describe));
  return hasFailed ? 1 : 0;
}

/** A command that says nothing takes a minute: a person must see that doctor waits. */
async function withStatus<Result>(work: () => Promise<Result>): Promise<Result> {
  const line = openStatusLine();
  line?.show('testing what clients start …');
  try {
    const result = await work();
    await whenEnded();
    return result;
  } finally {
    line?.clear();
  }
}

async function examine(runAll: boolean): Promise<Finding[]> {
  const { config, findings } = checkSettings();
  const isFile = config?.databaseUrl === undefined;
  const check = isFile ? checkLedger : checkPostgres;
  const forConfig = (name: string, work: (known: Config) => Promise<Finding[]>) =>
    config === undefined ? [] : guarded(name, () => work(config));
  return [
    ...checkMachine(),
    ...(isFile ? [await checkSqlite()] : []),
    ...findings,
    ...(await forConfig('ledger', check)),
    ...(await forConfig('witnesses', checkWitnesses)),
    ...(await guarded('clients', () => checkClients(runAll))),
    ...(await forConfig('recorder', (known) => checkRecorder(known, runAll))),
    ...(await guarded('git-hooks', checkGitHooks)),
    ...(await forConfig('skills', async (known) => checkSkills(known))),
  ];
}

/** What keeps a check from its work is a finding, and the other checks go on. */
async function guarded(name: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [failFrom(name, toError(error))];
  }
}

const STATUS_WIDTH = 5;
const TERM_WIDTH = 19;

function describe({ check, status, message, fix }: Finding): string[] {
  const { colors, width = Number.POSITIVE_INFINITY } = findTerminal();
  const paint = { ok: colors.green, warn: colors.yellow, fail: colors.red }[status];
  const term = {
    text: status.padEnd(STATUS_WIDTH) + check,
    width: TERM_WIDTH,
    paint: (text: string) => text.replace(status, paint(status)),
  };
  const lines = besideTerm(term, printable(message), width);
  if (fix === undefined) return lines;
  const dimmed = (line: string) => line.replace(/^fix:/, colors.dim('fix:'));
  return [...lines, ...besideTerm({ text: '', width: TERM_WIDTH }, `fix: ${printable(fix)}`, width, dimmed)];
}
