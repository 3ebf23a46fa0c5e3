import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import {
  type ProjectOptions,
  type ReviewPolicy,
  readProjectOptions,
  setProjectOptions,
} from '../../domains/tasks/review/options.ts';
import { isProjectSlug, REVIEW_POLICIES } from '../../integrity/index.ts';
import { writesLedger } from '../../modes.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { listNames } from '../views/terminal.ts';
import { type Person, type PersonOptions, withPerson } from './open-person.ts';
import { PERSON_OPTIONS, WRITE_EXIT_CODES } from './run-person.ts';

interface ProjectCommandOptions extends PersonOptions {
  readonly review?: ReviewPolicy;
}

export const project: CliCommand<ProjectCommandOptions, string | undefined> = {
  name: 'project',
  summary: 'show or set the options of a project',
  argument: new Argument('[project]', 'the project (default: COLIBRI_PROJECT)').argParser(parseProject),
  options: [
    new Option('--review <policy>', 'who must sign off before a task is done').choices(REVIEW_POLICIES),
    ...PERSON_OPTIONS,
  ],
  details: [
    'review: none lets every actor finish a task that is in review. other requires an actor other than the holder that brought it to review. person requires a person: one who finishes the task, or one who ran colibri approve since it came to review.',
    'The options are part of the ledger: every change is an entry that names the person. No tool can change them; docs/trust.md says what that proves.',
  ],
  examples: [['colibri project'], ['colibri project --review person'], ['colibri project web --review other']],
  exitCodes: { ...WRITE_EXIT_CODES, 0: 'shown, or set and recorded' },
  run: (options, name) =>
    reportResult('project', options.json ?? false, () =>
      options.review === undefined
        ? showOptions(name)
        : withPerson(options, false, (person) => setReview(person, name, options.review)),
    ),
};

async function showOptions(given: string | undefined): Promise<CommandResult> {
  const config = readProjectConfig();
  const name = given ?? config.project;
  const options = await withLedger(config, async (reader) => {
    await assertProject(reader, name, config.project);
    return readProjectOptions(reader, name);
  });
  return { verdict: 'done', lines: [describe(name, options)], facts: { project: name, options } };
}

async function setReview(
  person: Person,
  given: string | undefined,
  review: ReviewPolicy = 'none',
): Promise<CommandResult> {
  const { database, config, actor } = person;
  const name = given ?? config.project;
  if (database === undefined || !writesLedger(config.mode))
    throw new CommandError('refused', `${config.mode} mode changes no ledger`, {
      advice: 'set COLIBRI_MODE=FULL, or unset it',
    });
  return database.write({ durable: true }, async (db) => {
    await assertProject(db, name, config.project);
    const before = await readProjectOptions(db, name);
    const options = { ...before, review };
    const facts = { project: name, options };
    if (before.review === review) return { verdict: 'done', lines: [`${describe(name, options)} already`], facts };
    const entry = await setProjectOptions(db, { project: name, options, actor, at: new Date().toISOString() });
    const lines = [`${describe(name, options)}, was ${before.review ?? 'none'} (entry ${entry})`];
    return { verdict: 'done', lines, facts: { ...facts, entry } };
  });
}

function describe(name: string, { review = 'none' }: ProjectOptions): string {
  return `${name}: review ${review}`;
}

/** The active project always exists, as for the tools. */
async function assertProject(reader: Reader, name: string, active: string): Promise<void> {
  const projects = await listProjects(reader);
  if (name === active || projects.includes(name)) return;
  const advice = projects.length === 0 ? 'run colibri add to begin it' : `choose one of these: ${listNames(projects)}`;
  throw new CommandError('refused', `no project ${name}`, { advice });
}

function parseProject(text: string): string {
  if (isProjectSlug(text)) return text;
  throw new InvalidArgumentError('A project is a slug of a-z, 0-9, ".", "_", "-", at most 64 characters.');
}
