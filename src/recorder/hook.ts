import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type HookConfig, readHookConfig } from '../config.ts';
import { findAbove, foldersAbove, LEDGER } from '../db/locate.ts';
import { explainFullDisk } from '../files/full-disk.ts';
import { findHomeFolder } from '../home-folder.ts';
import { parseJson } from '../integrity/parse-json.ts';
import { type Hint, toEvent, unreadable } from './clients/recognize.ts';
import type { ObservedEvent } from './event.ts';
import { REPORTING_HOOKS, recordCommits } from './git/hook.ts';
import { type Input, readInput } from './input/read-input.ts';
import { limitTime } from './input/time-limit.ts';
import { randomHex } from './random-hex.ts';
import { countDroppedEvent, SPOOL, SpoolRefused, spoolOf, writeToSpool } from './spool.ts';
import { encodeSpooled, toSpooled } from './spooled-event.ts';

/**
 * Parsing and canonicalizing cannot be interrupted, and their time grows with the number of values, not with the length
 * of texts such as images: longer events are read only if they have few values. The slowest then takes less than a
 * second.
 */
const ALWAYS_READ_LENGTH = 2_097_152;
const MAX_VALUES = 150_000;
/** Git is awaited this long. */
const GIT_LIMIT_MS = 2000;
const SALT_BYTES = 16;

/** The spool that a session has filled up to now, and the ledger that it belongs to. */
export interface FilledSpool {
  readonly folder: string;
  /** Undefined: the ledger of the project. */
  readonly dbPath: string | undefined;
  readonly isDurable: boolean;
  /** Whether the session is over, so that no agent waits. */
  readonly isLast: boolean;
}

/**
 * The program of `colibri hook`. Never fails an agent: every fault ends with one line on stderr and exit code 0.
 * Returns the spool when the agent has stopped: without a server, no other process would add the events to the ledger.
 */
export async function run(args: readonly string[]): Promise<FilledSpool | undefined> {
  let filled: FilledSpool | undefined;
  process.on('uncaughtException', (error) => void giveUp(error));
  try {
    const gitHook = findOption(args, '--git');
    if (gitHook !== undefined) {
      const stop = limitTime(GIT_LIMIT_MS, () => void giveUp(new Error('git took longer than 2 seconds')));
      await recordGit(gitHook);
      stop();
      return undefined;
    }
    const input = await readInput();
    if (input === undefined) throw new NoEvent('reads one event as JSON on standard input; see colibri hook --help');
    const config = readHookConfig();
    const event = readEvent(input, { ...readHint(args), isInCopilotCli: config.isInCopilotCli });
    const dbPath = findNamed(config, event.folder);
    const folder = findSpool({ ...config, dbPath }, event.folder);
    if (folder !== undefined) {
      const isTest = record(folder, config, event);
      const isEnd = event.phase === 'stop' || event.phase === 'session_end';
      const { isDurable } = config;
      if (isEnd && !isTest && config.mayIngest)
        filled = { folder, dbPath, isDurable, isLast: event.phase === 'session_end' };
    }
  } catch (error) {
    await giveUp(error);
  }
  return filled;
}

/** Nothing was reported, so that nothing is lost. */
class NoEvent extends Error {}

/** Never under the project that a client names: the commit may be in another repository. */
async function recordGit(name: string): Promise<void> {
  const hook = REPORTING_HOOKS.find((known) => known === name);
  if (hook === undefined)
    throw new Error(`${name} is not a git hook that Colibri records; use ${REPORTING_HOOKS.join(' or ')}`);
  const { dbPath, level, isDurable } = readHookConfig();
  const folder = process.cwd();
  const spool = findSpool({ dbPath, projectFolders: [] }, null);
  if (spool === undefined) return;
  const input = hook === 'post-rewrite' ? ((await readInput())?.text ?? '') : '';
  await recordCommits({ hook, input, spool, folder, config: { level, isDurable } });
}

/** Returns whether the event is a test of doctor. */
function record(folder: string, config: HookConfig, reported: ObservedEvent): boolean {
  const { level, isDurable, testSession, clientVersions } = config;
  const event = { ...reported, clientVersion: reported.clientVersion ?? clientVersions[reported.client] ?? null };
  const at = new Date();
  const isTest = event.session !== '' && event.session === testSession;
  writeToSpool(folder, encodeSpooled(toSpooled(event, { at, salt: randomHex(SALT_BYTES), level })), {
    at,
    isDurable,
    isTest,
  });
  return isTest;
}

async function giveUp(error: unknown): Promise<void> {
  if (!(error instanceof NoEvent || error instanceof SpoolRefused)) countLost();
  // Loaded on demand: most hooks print nothing.
  const { printError } = await import('../print-error.ts');
  try {
    printError([`colibri hook: ${explainFullDisk(error).message}; the event is not recorded`]);
  } finally {
    process.exit(0);
  }
}

/** In the spool of this folder, because the event may not be known. */
function countLost(): void {
  try {
    const config = readHookConfig();
    const folder = findSpool({ ...config, dbPath: findNamed(config, null) }, null);
    if (folder !== undefined) countDroppedEvent(folder);
  } catch {
    // What kept the event from the disk may keep the count from it too.
  }
}

/** Options that it does not know are ignored: a client with a newer configuration must not suffer. */
function readHint(args: readonly string[]): Hint {
  return { client: findOption(args, '--client'), event: findOption(args, '--event') };
}

function findOption(args: readonly string[], name: string): string | undefined {
  const at = args.findIndex((argument) => argument === name || argument.startsWith(`${name}=`));
  return at === -1 ? undefined : args[at] === name ? args[at + 1] : args[at]?.slice(name.length + 1);
}

function readEvent({ text, isCut, hasEnded }: Input, hint: Hint): ObservedEvent {
  if (isCut || (text.length > ALWAYS_READ_LENGTH && hasManyValues(text))) return unreadable('too long', text, hint);
  // PowerShell begins its output with a byte order mark.
  const json = text.replace(/^\ufeff/, '');
  if (json.trim() === '')
    throw hasEnded ? new NoEvent('standard input is empty') : new Error('no event arrived in time');
  let value: unknown;
  try {
    value = parseJson(json);
  } catch {
    return unreadable(hasEnded ? 'not JSON' : 'incomplete', text, hint);
  }
  try {
    return toEvent(value, hint);
  } catch {
    // A defect of a mapping, for instance after an update of a client, must not lose the event.
    return unreadable('not understood', text, hint);
  }
}

/** Commas and brackets inside texts count too: to tell them apart would be to parse. */
function hasManyValues(text: string): boolean {
  let count = 0;
  for (let at = 0; at < text.length && count <= MAX_VALUES; at += 1)
    if (BEFORE_VALUES.has(text.charCodeAt(at))) count += 1;
  return count > MAX_VALUES;
}

const BEFORE_VALUES = new Set([',', '[', '{'].map((character) => character.charCodeAt(0)));

/**
 * The ledger that the user named. A relative path begins in the project, where clients start the server; an agent that
 * has changed its folder runs the hook elsewhere.
 */
function findNamed({ dbPath, projectFolders }: HookConfig, folder: string | null): string | undefined {
  if (dbPath === undefined || isAbsolute(dbPath)) return dbPath;
  const paths = startingFolders(projectFolders, folder).flatMap((from) =>
    foldersAbove(from).map((above) => resolve(above, dbPath)),
  );
  return paths.find((path) => existsSync(path)) ?? resolve(dbPath);
}

/** The folders that may be in the project, the most reliable first. */
function startingFolders(projectFolders: readonly string[], folder: string | null): string[] {
  return [...projectFolders, ...findCurrent(), ...(folder !== null && isAbsolute(folder) ? [folder] : [])];
}

/** None if an agent has deleted the folder in which the hook runs. */
function findCurrent(): string[] {
  try {
    return [process.cwd()];
  } catch {
    return [];
  }
}

/** Undefined outside a project with a `.colibri` folder: hooks of the user's own configuration run everywhere. */
function findSpool(
  { dbPath, projectFolders }: Pick<HookConfig, 'dbPath' | 'projectFolders'>,
  folder: string | null,
): string | undefined {
  if (dbPath !== undefined) return spoolOf(resolve(dbPath));
  const colibri = dirname(LEDGER);
  for (const from of startingFolders(projectFolders, folder)) {
    const found = findAbove(LEDGER, join(colibri, SPOOL), from);
    if (found !== undefined) return found;
    const project = findAbove(colibri, '.', from);
    // In the home folder, it holds the record of `init --global`: no server reads a spool there.
    if (project !== undefined && project !== findHomeFolder()) return join(project, colibri, SPOOL);
  }
  return undefined;
}
