import { button, element, replaceContent } from '../dom.ts';
import type { BundleEntry } from '../model/records.ts';
import { type Column, listColumns, listProjects, listTasks, type Task } from '../model/tasks.ts';

/** A column of ten thousand cards would be of no use, and slow. */
const [CARDS_AT_FIRST, CARDS_MORE] = [30, 200];
const ALL = '';

export interface BoardOptions {
  readonly entries: readonly BundleEntry[];
  readonly isWhole: boolean;
  readonly onChoose: (taskId: string) => void;
}

export function renderBoard(target: HTMLElement, { entries, isWhole, onChoose }: BoardOptions): void {
  const tasks = listTasks(entries);
  if (tasks.length === 0) {
    replaceContent(target, element('p', { class: 'empty' }, 'No task is among these entries.'));
    return;
  }
  const columns = element('div', { class: 'columns' });
  const draw = (project: string) => {
    const chosen = tasks.filter(({ shown }) => project === ALL || shown?.project === project);
    replaceContent(columns, ...listColumns(chosen).map((column) => renderColumn(column, onChoose)));
  };
  draw(ALL);
  replaceContent(target, projectChoice(listProjects(tasks), draw), note(isWhole, entries), columns);
}

function projectChoice(projects: readonly string[], draw: (project: string) => void): HTMLElement | undefined {
  if (projects.length < 2) return undefined;
  const select = element(
    'select',
    { id: 'project' },
    element('option', { value: ALL }, `all ${projects.length} projects`),
    ...projects.map((project) => element('option', { value: project }, project)),
  );
  select.addEventListener('change', () => draw(select.value));
  return element('p', { class: 'bar' }, element('label', { for: 'project' }, 'Project '), select);
}

function note(isWhole: boolean, entries: readonly BundleEntry[]): HTMLElement {
  const last = entries.at(-1);
  const text = isWhole
    ? `The tasks as of entry ${last?.index ?? 0}, ${last?.fields.at.slice(0, 16).replace('T', ' ')} UTC.`
    : 'Only what this file has: a task may have changed in an entry that was left out.';
  return element('p', { class: 'note' }, text);
}

function renderColumn({ status, tasks }: Column, onChoose: (taskId: string) => void): HTMLElement {
  const cards = element('ul', { class: 'cards' });
  let shown = 0;
  const more = button('', () => add(CARDS_MORE));
  const add = (count: number) => {
    cards.append(...tasks.slice(shown, shown + count).map((task) => renderCard(task, onChoose)));
    shown += count;
    more.textContent = `Show more of ${(tasks.length - shown).toLocaleString('en')}`;
    more.hidden = shown >= tasks.length;
  };
  add(CARDS_AT_FIRST);
  const label = `column-${status.replaceAll(/[^a-zA-Z]+/g, '-')}`;
  return element(
    'section',
    { class: 'column', 'aria-labelledby': label },
    element(
      'h3',
      { id: label },
      element('span', { class: 'data' }, status.replaceAll('_', ' ')),
      element('span', { class: 'count' }, tasks.length.toLocaleString('en')),
    ),
    cards,
    more,
  );
}

function renderCard({ taskId, shown, decisions, entry }: Task, onChoose: (taskId: string) => void): HTMLElement {
  const holder = shown?.holder || (shown?.assignee === 'unassigned' ? '' : (shown?.assignee ?? ''));
  const card = button('', () => onChoose(taskId), { class: `card is-${shown?.priority ?? 'withheld'}` });
  replaceContent(
    card,
    element(
      'span',
      { class: 'card-head' },
      element('span', { class: 'id' }, taskId),
      isUrgent(shown?.priority) ? element('span', { class: 'priority' }, shown?.priority) : undefined,
    ),
    element('span', { class: 'card-title data' }, shown?.title ?? 'content not disclosed'),
    shown?.blockedReason ? element('span', { class: 'blocked data' }, shown.blockedReason) : undefined,
    element(
      'span',
      { class: 'card-foot' },
      holder === '' ? undefined : element('span', { class: 'data' }, holder),
      shown !== undefined && shown.progress > 0 ? element('span', {}, `${Math.round(shown.progress)} %`) : undefined,
      decisions > 0 ? element('span', {}, decisions === 1 ? '1 decision' : `${decisions} decisions`) : undefined,
      element('span', {}, `#${entry.index}`),
    ),
  );
  return element('li', {}, card);
}

function isUrgent(priority: string | undefined): boolean {
  return priority === 'high' || priority === 'critical';
}
