import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { printError } from '../../print-error.ts';
import { removeReserve } from '../../recorder/spool-reserve.ts';
import { askYesOrNo, canAsk, print, printJson, printProse } from '../support/print.ts';
import { CLIENTS, type Client, detectClients, type LaunchCommand } from './clients.ts';
import { describeChanges, describeOutcome, isInstructions, planAsJson } from './describe-plan.ts';
import { removeEmptyFolder, writeAll } from './disk.ts';
import { type GitPlan, planGitHooks, planGitHooksUndo, readGitHooks } from './git/plan-git-hooks.ts';
import { findTargets } from './hooks/hook-targets.ts';
import { InitError } from './init-error.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { localCommand, preferredCommand, publishedCommand } from './launch-command.ts';
import type { Plan, Site } from './plan.ts';
import { planSetup } from './plan-setup.ts';
import { planUndo, SPOOL_PATH } from './plan-undo.ts';
import { findProjectRoot } from './project-root.ts';
import { listShippedSkills } from './shipped-skills.ts';

export interface InitOptions {
  readonly dryRun?: true;
  readonly undo?: true;
  readonly local?: true;
  readonly published?: true;
  readonly global?: true;
  readonly replace?: true;
  readonly agentIds?: true;
  readonly record?: true;
  /** Undefined if neither --instructions nor --no-instructions was passed. */
  readonly instructions?: boolean;
  readonly json?: true;
}

const REFUSED = 1;

/** Returns the exit code. */
export async function runInit(names: readonly string[], options: InitOptions): Promise<number> {
  const { dryRun = false, undo = false, json = false } = options;
  try {
    const site = findSite(options.global ?? false);
    const plan = undo ? planUndoOf(site, names) : await planSetupOf(site, names, options);
    const whole = withGit(plan, await planGit(site, names, options));
    if (!dryRun) applyPlan(site, whole);
    if (json) printJson(planAsJson(site, whole, dryRun));
    else {
      const changes = describeChanges(whole);
      if (changes.length > 0) print(changes);
      printProse(describeOutcome(whole, { dryRun, undo, isGlobal: site.isGlobal }));
    }
    return 0;
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    if (json) printJson({ refused: error.message });
    else printError(`colibri init: nothing was changed: ${error.message}`);
    return REFUSED;
  }
}

function findSite(isGlobal: boolean): Site {
  const home = findHomeFolder();
  if (isGlobal) {
    if (home === undefined)
      throw new InitError('this user has no home folder', { advice: 'set HOME, or omit --global' });
    return { root: resolve(home), isGlobal };
  }
  const root = findProjectRoot();
  if (home !== undefined && root === resolve(home))
    throw new InitError('this is your home folder', { advice: 'change to a project, or pass --global' });
  return { root, isGlobal };
}

async function planSetupOf(site: Site, names: readonly string[], options: InitOptions): Promise<Plan> {
  const clients = names.length > 0 ? named(names) : findClients(site, options.record ?? false);
  if (clients.length === 0)
    throw new InitError('no client found', { advice: 'name one, for example: colibri init claude-code' });
  const { replace = false, agentIds = false, record = false } = options;
  if (site.isGlobal && options.instructions === true)
    throw new InitError('the lines for agents belong to a project', { advice: 'omit --global or --instructions' });
  const plan = (instructions: boolean) =>
    planSetup(site, {
      clients,
      command: chooseCommand(options),
      skills: listShippedSkills(),
      replace,
      agentIds,
      instructions,
      record,
    });
  const without = plan(false);
  if (site.isGlobal || options.instructions === false) return without;
  try {
    const complete = plan(true);
    const files = complete.changes.filter(isInstructions).map(({ path }) => path);
    if (files.length === 0) return without;
    if (options.instructions ?? (await wantsInstructions(files, options))) return complete;
    return withNote(
      without,
      `${files.join(', ')}: agents may not find Colibri; use --instructions to add lines for them`,
    );
  } catch (error) {
    // A file that cannot be edited stops the command only if the user asked for it.
    if (!(error instanceof InitError) || options.instructions === true) throw error;
    return withNote(without, error.problem);
  }
}

/** The hooks of git belong to the project, not to a client. */
async function planGit({ root, isGlobal }: Site, names: readonly string[], options: InitOptions): Promise<GitPlan> {
  const none = { changes: [], notes: [], emptied: [] };
  if (isGlobal) return none;
  if (options.undo) return names.length === 0 ? planGitHooksUndo(root) : none;
  // A later init keeps them up to date.
  const isWanted = options.record || (await readGitHooks(root)) !== undefined;
  return isWanted ? planGitHooks(root, chooseCommand(options), options.record ?? false) : none;
}

function withGit(plan: Plan, git: GitPlan): Plan {
  return {
    ...plan,
    changes: [...plan.changes, ...git.changes],
    notes: [...plan.notes, ...git.notes],
    emptied: [...git.emptied, ...plan.emptied],
  };
}

function withNote(plan: Plan, note: string): Plan {
  return { ...plan, notes: [...plan.notes, note] };
}

/** Asks on a terminal, because the files belong to the user and are read by every agent. */
async function wantsInstructions(files: readonly string[], { json, dryRun }: InitOptions): Promise<boolean> {
  if (json || dryRun || !canAsk()) return false;
  printProse([
    'Clients hide the tools of a server until an agent searches for them. These lines tell agents to use Colibri:',
    '',
    ...INSTRUCTIONS.map((line) => `  ${line}`),
  ]);
  return askYesOrNo(`Add them to ${files.join(' and ')}?`);
}

function planUndoOf(site: Site, names: readonly string[]): Plan {
  return planUndo(site, names.length > 0 ? named(names) : CLIENTS, names.length === 0);
}

function chooseCommand({ local, published }: InitOptions): LaunchCommand {
  if (local) return localCommand();
  return published ? publishedCommand() : preferredCommand();
}

function named(names: readonly string[]): Client[] {
  return CLIENTS.filter(({ id }) => names.includes(id));
}

function findClients({ root, isGlobal }: Site, record: boolean): Client[] {
  const here = detectClients(root);
  const home = findHomeFolder();
  const found = here.length > 0 || home === undefined ? here : detectClients(home);
  const hasFile = (client: Client) => (isGlobal ? client.global : client.project).length > 0;
  return found.filter((client) => hasFile(client) || (record && findTargets([client]).length > 0));
}

function applyPlan({ root, isGlobal }: Site, { changes, emptied }: Plan): void {
  writeAll(root, changes, isGlobal);
  if (emptied.includes(SPOOL_PATH)) dropReserve(root);
  // Only the plan for git names folders outside: those of the repository of a linked work tree.
  for (const folder of emptied) removeEmptyFolder(root, folder, isGlobal || folder.startsWith('../'));
}

/** Only what waits in a spool is worth keeping. */
function dropReserve(root: string): void {
  const spool = join(root, SPOOL_PATH);
  if (lstatSync(spool, { throwIfNoEntry: false })?.isDirectory() === true) removeReserve(spool);
}
