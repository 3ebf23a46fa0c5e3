import { existsSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { locateDatabase } from '../config.ts';
import { currentFolder, UnusableFolder } from '../current-folder.ts';
import { toError } from '../errors.ts';
import { explainFullDisk, isFullDisk } from '../files/full-disk.ts';
import { printError } from '../print-error.ts';
import { escapeUnsafe } from '../terminal-text.ts';
import { readVersion } from '../version.ts';
import { agents } from './commands/agents.ts';
import { backup } from './commands/backup.ts';
import { board } from './commands/board.ts';
import { brief } from './commands/brief.ts';
import { copy } from './commands/copy.ts';
import { demo } from './commands/demo.ts';
import { doctor } from './commands/doctor.ts';
import { init } from './commands/init.ts';
import { list } from './commands/list.ts';
import { log } from './commands/log.ts';
import { next } from './commands/next.ts';
import { restore } from './commands/restore.ts';
import { serve } from './commands/serve.ts';
import { show } from './commands/show.ts';
import { trust } from './commands/trust.ts';
import { verify } from './commands/verify.ts';
import { wait } from './commands/wait.ts';
import { createCompletion } from './completion/command.ts';
import { exportCommand } from './export/command.ts';
import { add } from './people/add.ts';
import { approve } from './people/approve.ts';
import { call } from './people/call.ts';
import { edit } from './people/edit.ts';
import { block, cancel, done, review, start } from './people/moves.ts';
import { note } from './people/note.ts';
import { project } from './people/project.ts';
import { seal } from './people/seal.ts';
import { search } from './people/search.ts';
import { checkpoint } from './proofs/checkpoint.ts';
import { continueCommand } from './proofs/continue.ts';
import { key } from './proofs/key.ts';
import { prove } from './proofs/prove.ts';
import { publish } from './proofs/publish.ts';
import { hook } from './recorder/hook.ts';
import { redact } from './redaction/command.ts';
import {
  type CliCommand,
  type Example,
  HELP_LAYOUT,
  helpWidth,
  registerCommand,
  renderExamples,
  usageExitCode,
} from './support/command.ts';
import { suggestRestore } from './support/deleted-ledger.ts';
import { EXIT_IO_ERROR, exitOnBrokenPipe, print, printJson } from './support/print.ts';
import { readProjectConfig, readRestoreConfig } from './support/with-ledger.ts';
import { timeline } from './timeline/command.ts';
import { wrap } from './views/text-width.ts';
import { witness } from './witnesses/witness.ts';

/** In the order of the help text. */
export const COMMANDS: readonly CliCommand[] = [
  serve,
  init,
  demo,
  board,
  list,
  agents,
  show,
  timeline,
  next,
  brief,
  log,
  wait,
  add,
  edit,
  start,
  block,
  review,
  done,
  cancel,
  note,
  approve,
  seal,
  project,
  search,
  call,
  verify,
  checkpoint,
  key,
  continueCommand,
  prove,
  publish,
  witness,
  exportCommand,
  redact,
  trust,
  doctor,
  backup,
  restore,
  copy,
  hook,
  createCompletion(() => COMMANDS),
];

const EXIT_BUG = 1;
const EXIT_CANNOT_TELL = 2;
const EXIT_USAGE = 64;

const EXAMPLES: readonly Example[] = [
  ['colibri', 'show the board, or this help if no ledger exists; without a terminal, serve MCP'],
  ['colibri init', 'connect the coding agents of this project'],
  ['colibri show 42', 'show one task and its decisions'],
  ['colibri log --follow', 'watch what agents do'],
  ['colibri verify', 'check that the ledger was not tampered with'],
  ['colibri verify --json | jq .verdict'],
];

const CONFIGURATION =
  'Configuration is read from environment variables (COLIBRI_MODE, COLIBRI_DB_PATH, …); see the README.';

export async function runCommand(args: readonly string[]): Promise<void> {
  exitOnBrokenPipe();
  process.on('uncaughtException', exitWithStack);
  const isJson = wantsJson(args);
  const program = new Command('colibri')
    .description('a flight recorder for AI agents')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', () => ['', ...renderExamples(EXAMPLES), '', ...wrap(CONFIGURATION, helpWidth())].join('\n'))
    .showSuggestionAfterError()
    .showHelpAfterError('Run colibri --help for usage.')
    .configureHelp(HELP_LAYOUT)
    .configureOutput({
      writeOut: (text) => print(linesOf(text)),
      // A script that asked for JSON reads the problem from standard output, as that of any other failure.
      writeErr: (text) => (isJson ? undefined : printError(linesOf(text))),
      outputError: (text, write) => write(escapeArguments(text, args)),
    })
    .exitOverride();
  program.hook('preAction', (_program, command) => assertFolder(command.name()));
  for (const command of COMMANDS) registerCommand(program, command);
  try {
    assertHelpTopic(program, args);
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof UnusableFolder) return reportUnusable(error, isJson, args[0]);
    if (!(error instanceof CommanderError)) return exitWithStack(toError(error));
    process.exitCode = error.exitCode === 0 ? 0 : usageExitOf(args[0]);
    if (isJson && error.exitCode !== 0) printJson(usageErrorOf(error.message, args[0]));
  }
}

/** A hook must not fail, and a script for a shell has no paths. */
const NEED_NO_FOLDER: ReadonlySet<string> = new Set([hook.name, 'completion']);

/** Ends every command that would fail in its own way, with a path that it cannot resolve. */
function assertFolder(command: string): void {
  if (!NEED_NO_FOLDER.has(command)) currentFolder();
}

/** In the form of the other failures of the command. */
function reportUnusable({ message }: UnusableFolder, isJson: boolean, name = ''): void {
  process.exitCode = EXIT_CANNOT_TELL;
  if (!isJson) printError(`colibri ${name}: ${message}`);
  else printJson(usageExitOf(name) === EXIT_USAGE ? { error: message } : { verdict: 'cannot tell', message });
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).includes('--json');
}

/** In the form of the other failures of the command. */
function usageErrorOf(text: string, name = ''): object {
  const problem = text
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  const isKnown = COMMANDS.some((command) => command.name === name);
  const message = `${problem}; run colibri ${isKnown ? `${name} ` : ''}--help for usage`;
  return usageExitOf(name) === EXIT_USAGE ? { error: message } : { verdict: 'bad input', message };
}

/** Commander prints the whole help instead. */
function assertHelpTopic(program: Command, [name, topic]: readonly string[]): void {
  const topics = ['help', ...COMMANDS.map((command) => command.name)];
  if (name !== 'help' || topic === undefined || topic.startsWith('-') || topics.includes(topic)) return;
  program.error(`error: unknown command '${topic}'`, { exitCode: EXIT_USAGE });
}

/** What a person sees who passes no arguments. Creates no ledger, in contrast to a server. */
export function chooseDefault(): readonly string[] {
  return hasLedger() ? [board.name] : ['--help'];
}

/** Also true if the ledger was deleted beside a backup, or the configuration is invalid: the board then reports it. */
function hasLedger(): boolean {
  try {
    const config = readProjectConfig();
    if (config.databaseUrl !== undefined || existsSync(locateDatabase(config))) return true;
    return suggestRestore(locateDatabase(readRestoreConfig())).length > 0;
  } catch {
    return true;
  }
}

/** Reports a bug, unless the disk is full. Node would print the message without escaping it. */
function exitWithStack(error: Error): never {
  const { message, stack = message } = error;
  if (isFullDisk(error)) {
    printError(`colibri: ${explainFullDisk(error).message}`);
    process.exit(EXIT_IO_ERROR);
  }
  printError(stack.split('\n'));
  process.exit(EXIT_BUG);
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** Commander quotes arguments in its messages; a line break in one must not start a new line. */
function escapeArguments(text: string, args: readonly string[]): string {
  return args.reduce((escaped, argument) => escaped.replaceAll(argument, escapeUnsafe(argument)), text);
}

function usageExitOf(name: string | undefined): number {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  return command === undefined ? EXIT_USAGE : usageExitCode(command);
}
