import { findTerminal } from '../views/terminal.ts';
import type { Client } from './clients.ts';
import type { FileChange } from './disk.ts';
import { unifiedDiff } from './formats/unified-diff.ts';
import { INSTALLED_PATH } from './git/installed-hooks.ts';
import type { Plan, Site } from './plan.ts';

/** Not prose: a broken line would no longer be one of a diff. */
export function describeChanges(plan: Plan): string[] {
  return visible(plan).flatMap((change) => (isCopy(change) ? [summary(change)] : [...colored(change), '']));
}

/** How init was called. */
interface Manner {
  readonly dryRun: boolean;
  readonly undo: boolean;
  readonly isGlobal: boolean;
}

/** What is left to say and to do after the changes. */
export function describeOutcome(plan: Plan, { dryRun, undo, isGlobal }: Manner): string[] {
  const shown = visible(plan);
  const closing = undo ? describeUndo(shown) : describeSetup(plan, shown, isGlobal);
  return [...plan.notes, ...(dryRun && shown.length > 0 ? ['Nothing was written (--dry-run).'] : closing)];
}

export function planAsJson({ root, isGlobal }: Site, plan: Plan, dryRun: boolean) {
  const changes = visible(plan).map((change) => ({
    path: change.path,
    action: summary(change).split(' ')[0],
    ...(isCopy(change) ? {} : { diff: unifiedDiff(change.path, change.before, change.after).join('\n') }),
  }));
  const next = plan.connected.map((client) => ({ client: client.id, step: nextStepOf(client, isGlobal) }));
  const recording = plan.recording.map(({ id, nextStep }) => ({ client: id, step: nextStep }));
  return { root, dry_run: dryRun, changes, notes: plan.notes, next, recording };
}

export function isInstructions(change: FileChange): boolean {
  return change.path.endsWith('.md') && !isSkill(change);
}

/** Without the records, which are only there for undo. */
function visible({ changes }: Plan): readonly FileChange[] {
  return changes.filter(({ path }) => !path.startsWith('.colibri/') && !path.endsWith(`/${INSTALLED_PATH}`));
}

function describeUndo(shown: readonly FileChange[]): string[] {
  return [shown.length === 0 ? 'There is nothing to undo.' : 'Undone.'];
}

function describeSetup({ connected, recording }: Plan, shown: readonly FileChange[], isGlobal: boolean): string[] {
  if (connected.length === 0 && recording.length === 0)
    return [shown.length === 0 ? 'Nothing was changed, and no client is connected.' : 'No client is connected.'];
  const steps = (title: string, clients: readonly { name: string; nextStep: string }[]) =>
    clients.length === 0 ? [] : [title, ...clients.map(({ name, nextStep }) => `  ${name}: ${nextStep}`)];
  return [
    shown.length === 0 ? 'Already set up; nothing changed.' : 'Done.',
    ...steps(
      'To connect:',
      connected.map((client) => ({ ...client, nextStep: nextStepOf(client, isGlobal) })),
    ),
    ...steps('To record what agents do:', recording),
    `Run colibri doctor to test the configuration, and colibri init ${isGlobal ? '--global ' : ''}--undo to revert it.`,
  ];
}

/** The configuration of a user is for every project. */
function nextStepOf({ nextStep }: Client, isGlobal: boolean): string {
  return isGlobal ? nextStep.replace(' in this folder', ' in a project') : nextStep;
}

/** Skills and plug-ins are files of the package. */
function isCopy(change: FileChange): boolean {
  return isSkill(change) || change.path.endsWith('.js');
}

function isSkill({ path }: FileChange): boolean {
  return path.includes('/skills/');
}

function summary({ path, before, after }: FileChange): string {
  return `${before === undefined ? 'create' : after === undefined ? 'remove' : 'update'} ${path}`;
}

function colored({ path, before, after }: FileChange): string[] {
  const { bold, cyan, green, red } = findTerminal().colors;
  return unifiedDiff(path, before, after)
    .map(indentWithBlanks)
    .map((line) => {
      if (/^(?:---|\+\+\+) /.test(line)) return bold(line);
      if (line.startsWith('@@')) return cyan(line);
      if (line.startsWith('+')) return green(line);
      return line.startsWith('-') ? red(line) : line;
    });
}

/** Keeps tabs that indent; print shows any other tab as an escape. */
function indentWithBlanks(line: string): string {
  return line.replace(/^([ +-])(\t+)/, (_, sign: string, tabs: string) => sign + '    '.repeat(tabs.length));
}
