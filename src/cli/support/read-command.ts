import { type Config, locateDatabase } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import { hasProject } from '../../domains/tasks/repository.ts';
import { AdvisedError, ColibriError } from '../../errors.ts';
import { explainFullDisk } from '../../files/full-disk.ts';
import { NotCanonical } from '../../integrity/index.ts';
import { printError } from '../../print-error.ts';
import { printWaiting } from '../recorder/waiting-events.ts';
import { listNames } from '../views/terminal.ts';
import { suggestRestore } from './deleted-ledger.ts';
import { printJson } from './print.ts';
import { isMissing, readProjectConfig, readRestoreConfig, warnOfTestMode } from './with-ledger.ts';

/** What the commands that show the ledger have in common. */

const NOT_FOUND = 1;
const CANNOT_READ = 2;
const BAD_INPUT = 3;

export const READ_EXIT_CODES = {
  0: 'shown',
  2: 'no ledger, or it cannot be read',
  3: 'invalid configuration',
  64: 'invalid usage',
} as const;
export const PROJECT_EXIT_CODES = { ...READ_EXIT_CODES, 1: 'no such project' } as const;

const TO_BEGIN = [
  'To begin, run colibri init to connect a coding agent, and let it plan its work with Colibri.',
  'To add a task yourself, run colibri add "what to do".',
  'To watch two agents at work first, run colibri demo.',
];

/** Names a backup beside an empty ledger: the one before it was probably deleted. */
export function describeEmpty(config: Config): string[] {
  const restoring = config.databaseUrl === undefined ? suggestRestore(locateDatabase(config)) : [];
  return ['The ledger is empty: it has no task yet.', ...restoring, ...TO_BEGIN];
}

/** Reads the configuration, runs the work and returns its exit code; reports an error as text or as JSON. */
export async function runReadCommand(
  name: string,
  json: boolean,
  work: (config: Config) => Promise<number>,
  { awaitsLedger = false }: { readonly awaitsLedger?: boolean } = {},
): Promise<number> {
  try {
    const config = readProjectConfig();
    assertLedgerExists(config, awaitsLedger);
    warnOfTestMode(config);
    printWaiting(config);
    return await work(config);
  } catch (thrown) {
    const error = explainFullDisk(thrown);
    const message = isDamage(error)
      ? `${error.message}; run colibri verify to find out whether the ledger was tampered with`
      : error.message;
    const more = error instanceof NoLedger ? error.more : [];
    if (json) printJson({ error: [message, ...more].join('\n') });
    else printError([`colibri ${name}: ${message}`, ...more]);
    return exitCodeOf(error);
  }
}

/** The requested project, else the active one; every project if the active one has no tasks. */
export async function chooseProjects(
  reader: Reader,
  config: Config,
  { project, all = false }: { readonly project?: string; readonly all?: boolean },
): Promise<string[]> {
  const wanted = project ?? config.project;
  if (!all && (await hasProject(reader, wanted))) return [wanted];
  const projects = await listProjects(reader);
  if (project === undefined || all) return projects;
  const isEmpty = projects.length === 0;
  const problem = `no project ${project}${isEmpty ? ': the ledger is empty' : ''}`;
  const options = isEmpty ? {} : { advice: `choose one of these: ${listNames(projects)}` };
  throw new ColibriError('ERR_PROJECT_NOT_FOUND', problem, { project }, options);
}

/** A deleted ledger beside a backup is always refused: a new one would hide the loss. */
function assertLedgerExists(config: Config, mayBeCreated: boolean): void {
  if (!isMissing(config)) return;
  // The nearest folder of a ledger may be that of a parent: commands run in subfolders too.
  const place = locateDatabase(readRestoreConfig());
  const restoring = suggestRestore(place);
  if (restoring.length > 0) throw new NoLedger(`no ledger at ${place}`, restoring);
  if (!mayBeCreated) throw new NoLedger(`no ledger at ${locateDatabase(config)}`, TO_BEGIN);
}

class NoLedger extends AdvisedError {
  constructor(
    problem: string,
    readonly more: readonly string[],
  ) {
    super(problem);
  }
}

/** Rows that the server wrote can be read; only edited rows throw these. */
function isDamage(error: Error): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof NotCanonical;
}

function exitCodeOf(error: Error): number {
  if (!(error instanceof ColibriError)) return CANNOT_READ;
  return ['ERR_NOT_FOUND', 'ERR_PROJECT_NOT_FOUND'].includes(error.code) ? NOT_FOUND : BAD_INPUT;
}
