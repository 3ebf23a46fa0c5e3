import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Reader } from '../../db/database.ts';
import { canBeRequired } from '../../domains/evidence/required-runs.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import {
  type ProjectOptions,
  type ReviewPolicy,
  readProjectOptions,
  setProjectOptions,
} from '../../domains/tasks/review/options.ts';
import { isVisible } from '../../fields.ts';
import { MAX_COMMAND_LENGTH, MAX_REQUIRED_COMMANDS, REVIEW_POLICIES } from '../../integrity/index.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { parseProject } from '../support/options.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { listNames } from '../views/terminal.ts';
import { type Person, type PersonOptions, requireWriter, withPerson } from './open-person.ts';
import { PERSON_OPTIONS, WRITE_EXIT_CODES } from './run-person.ts';

interface ProjectCommandOptions extends PersonOptions {
  readonly review?: ReviewPolicy;
  /** False for --no-require-observed. */
  readonly requireObserved?: readonly string[] | false;
}

export const project: CliCommand<ProjectCommandOptions, string | undefined> = {
  name: 'project',
  summary: 'show or set the options of a project',
  argument: new Argument('[project]', 'the project (default: COLIBRI_PROJECT)').argParser(parseProject),
  options: [
    new Option('--review <policy>', 'who must sign off before a task is done').choices(REVIEW_POLICIES),
    new Option(
      '--require-observed <command>',
      'a command that must be observed to exit 0 before a task is done; repeat it for several',
    ).argParser(parseRequired),
    new Option('--no-require-observed', 'require no command'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'review: none lets every actor finish a task that is in review. other requires an actor other than the holder that brought it to review. person requires a person: one who finishes the task, or one who ran colibri approve since it came to review.',
    '--require-observed "npm test" refuses done until the recorder has observed a run of npm test that exited 0 after the last edit of a file by the agent. It needs the hooks of colibri init --record, and a client that reports exit codes: Codex, VS Code and Windsurf report none. A person finishes a task without it by colibri done --force "why".',
    'The options are part of the ledger: every change is an entry that names the person. No tool can change them; docs/trust.md says what that proves.',
  ],
  examples: [
    ['colibri project'],
    ['colibri project --review person'],
    ['colibri project web --review other'],
    ['colibri project --require-observed "npm test" --require-observed "npm run lint"'],
    ['colibri project --no-require-observed'],
  ],
  exitCodes: { ...WRITE_EXIT_CODES, 0: 'shown, or set and recorded' },
  run: (options, name) =>
    reportResult('project', options.json ?? false, () =>
      options.review === undefined && options.requireObserved === undefined
        ? showOptions(name)
        : withPerson(options, (person) => setOptions(person, name, options)),
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

async function setOptions(
  person: Person,
  given: string | undefined,
  { review, requireObserved }: ProjectCommandOptions,
): Promise<CommandResult> {
  const { config, actor } = person;
  const name = given ?? config.project;
  return requireWriter(person).write({ durable: true }, async (db) => {
    await assertProject(db, name, config.project);
    const before = await readProjectOptions(db, name);
    const { require_observed: required = [], ...others } = before;
    const wanted = requireObserved === undefined ? required : requireObserved === false ? [] : requireObserved;
    const options: ProjectOptions = {
      ...others,
      ...(review === undefined ? {} : { review }),
      ...(wanted.length === 0 ? {} : { require_observed: wanted }),
    };
    const facts = { project: name, options };
    if (describe(name, options) === describe(name, before))
      return { verdict: 'done', lines: [`${describe(name, options)} already`], facts };
    const entry = await setProjectOptions(db, { project: name, options, actor, at: new Date().toISOString() });
    const lines = [
      `${describe(name, options)}, was ${describeBefore(before, options)} (entry ${entry})`,
      ...(requireObserved ? [NO_EXIT_CODES] : []),
    ];
    return { verdict: 'done', lines, facts: { ...facts, entry } };
  });
}

/** Not refused: agents of several clients may share a project. */
const NO_EXIT_CODES =
  'Codex, VS Code and Windsurf report no exit codes: a task of theirs needs a person, who runs colibri done --force "why".';

function describe(name: string, options: ProjectOptions): string {
  return `${name}: ${describeOptions(options)}`;
}

function describeOptions({ review = 'none', require_observed: required = [] }: ProjectOptions): string {
  const commands = required.map((command) => JSON.stringify(command)).join(' and ');
  return `review ${review}${commands === '' ? '' : `, requires a run of ${commands}`}`;
}

function describeBefore(before: ProjectOptions, after: ProjectOptions): string {
  const hasCommands = before.require_observed !== undefined || after.require_observed !== undefined;
  return hasCommands ? describeOptions(before) : (before.review ?? 'none');
}

/** The active project always exists, as for the tools. */
async function assertProject(reader: Reader, name: string, active: string): Promise<void> {
  const projects = await listProjects(reader);
  if (name === active || projects.includes(name)) return;
  const advice = projects.length === 0 ? 'run colibri add to create it' : `choose one of these: ${listNames(projects)}`;
  throw new CommandError('refused', `no project ${name}`, { advice });
}

function parseRequired(text: string, earlier?: readonly string[] | false): readonly string[] {
  const command = text.trim();
  const commands = [...new Set([...(earlier || []), command])];
  if (/\p{Cc}/u.test(command) || !isVisible(command) || command.length > MAX_COMMAND_LENGTH)
    throw new InvalidArgumentError(`Give a command in one line of at most ${MAX_COMMAND_LENGTH} characters.`);
  if (!canBeRequired(command))
    throw new InvalidArgumentError('Its exit code would not be reliable: leave out pipes, || and ;.');
  if (commands.length <= MAX_REQUIRED_COMMANDS) return commands;
  throw new InvalidArgumentError(`Require at most ${MAX_REQUIRED_COMMANDS} commands.`);
}
