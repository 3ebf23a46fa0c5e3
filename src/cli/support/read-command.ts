import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { locateDatabase } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import { hasProject } from '../../domains/tasks/repository.ts';
import { ColibriError, toError } from '../../errors.ts';
import { isProjectSlug, NotCanonical } from '../../integrity/index.ts';
import { printError } from '../../print-error.ts';
import { printable } from '../views/text-width.ts';
import { printJson } from './print.ts';
import { projectConfig } from './with-ledger.ts';

/** What the commands that show the ledger to people have in common. */

const NOT_FOUND = 1;
const CANNOT_READ = 2;
const BAD_INPUT = 3;

export const EXIT_CODES =
  '0 shown, 1 no such thing, 2 no ledger or one that cannot be read, 3 wrong configuration, 64 usage';

const TO_BEGIN = [
  'To begin, connect a coding agent (colibri init) and let it plan its work with Colibri,',
  'or watch two agents at work first: colibri demo',
];

export const EMPTY = ['The ledger is empty: nobody has created a task yet.', ...TO_BEGIN];

/** Runs the work, which returns an exit code; reports an error as text or as JSON. */
export async function showFromLedger(command: string, json: boolean, work: () => Promise<number>): Promise<void> {
  try {
    assertThereIsALedger();
    process.exitCode = await work();
  } catch (thrown) {
    const error = toError(thrown);
    const message = isDamage(error)
      ? `${error.message}; colibri verify says whether the ledger is whole`
      : error.message;
    const more = error instanceof NoLedger ? TO_BEGIN : [];
    if (json) printJson({ error: [message, ...more].join('\n') });
    else printError([`colibri ${command}: ${message}`, ...more]);
    process.exitCode = exitCodeOf(error);
  }
}

/** The project that was asked for; without one the active project; where that has no tasks, every project. */
export async function chooseProjects(reader: Reader, asked: string | undefined, all = false): Promise<string[]> {
  const wanted = asked ?? projectConfig().project;
  if (!all && (await hasProject(reader, wanted))) return [wanted];
  const projects = await listProjects(reader);
  if (asked === undefined || all) return projects;
  const others = projects.length === 0 ? 'the ledger is empty' : `there are ${namesOf(projects)}`;
  throw new ColibriError('ERR_PROJECT_NOT_FOUND', `there is no project ${asked}; ${others}`, { project: asked });
}

/** For the option --project. */
export function parseProject(text: string): string {
  if (isProjectSlug(text)) return text;
  throw new InvalidArgumentError('A project is a slug of a-z, 0-9, ".", "_", "-", at most 64 characters.');
}

/** For options that count. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= MAX_COUNT) return count;
  throw new InvalidArgumentError(`It is a whole number from 1 to ${MAX_COUNT}.`);
}

const MAX_COUNT = 100_000;
const MAX_NAMED = 10;

/** "T-0003, T-0007 and 5 more" */
export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(printable).join(', ');
  return names.length > MAX_NAMED ? `${shown} and ${(names.length - MAX_NAMED).toLocaleString('en')} more` : shown;
}

function assertThereIsALedger(): void {
  const config = projectConfig();
  const path = locateDatabase(config);
  // A server is asked when the ledger is opened.
  if (config.databaseUrl !== undefined || existsSync(path)) return;
  throw new NoLedger(`there is no ledger at ${path}`);
}

class NoLedger extends Error {}

/** Rows that were written through the server can be read: these come of rows that somebody edited. */
function isDamage(error: Error): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof NotCanonical;
}

function exitCodeOf(error: Error): number {
  if (!(error instanceof ColibriError)) return CANNOT_READ;
  return ['ERR_NOT_FOUND', 'ERR_PROJECT_NOT_FOUND'].includes(error.code) ? NOT_FOUND : BAD_INPUT;
}
