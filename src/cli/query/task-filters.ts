import { InvalidArgumentError, Option } from 'commander';
import { listInput } from '../../domains/tasks/schema.ts';
import { isOpen, STATUSES, type Status } from '../../domains/tasks/workflows.ts';
import { ALL_OPTION, PROJECT_OPTION } from '../support/options.ts';

/** The filters that `board` and `list` share; a task must match all of them. */
export interface TaskFilters {
  readonly project?: string;
  readonly all?: boolean;
  readonly assignee?: string;
  readonly label?: string;
  readonly status?: Status[];
  readonly search?: string;
}

const OPEN = 'open';

export const FILTER_OPTIONS: readonly Option[] = [
  PROJECT_OPTION,
  ALL_OPTION,
  new Option('--assignee <name>', 'only tasks assigned to this agent or person; "unassigned" for the others').argParser(
    parseText('assignee', 128),
  ),
  new Option('--label <label>', 'only tasks with this label').argParser(parseText('label', 64)),
  new Option('--status <status>', `only tasks with this status; a list (todo,review), or ${OPEN}`).argParser(
    parseStatuses,
  ),
  new Option('--search <words>', 'only tasks with these words in title or description').argParser(
    parseText('search', 256),
  ),
];

/** The filters without the projects, for a query. */
export function filtersOf({ assignee, label, status, search }: TaskFilters) {
  return { assignee, label, status, search };
}

/** The fields of task_list, with their limits. */
function parseText(field: 'assignee' | 'label' | 'search', maxLength: number): (text: string) => string {
  return (text) => {
    if (text.trim() !== '' && listInput.shape[field].safeParse(text).success) return text;
    throw new InvalidArgumentError(`Use 1 to ${maxLength} characters on one line.`);
  };
}

/** Accepts names as people write them: in-progress, IN_PROGRESS, apply. May be repeated. */
export function parseStatuses(text: string, previous: readonly Status[] = []): Status[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase().replaceAll(/[ -]/g, '_'));
  const found = names.flatMap((name) => {
    const statuses = STATUSES.filter((status) => (name === OPEN ? isOpen(status) : status.toLowerCase() === name));
    if (statuses.length > 0) return statuses;
    throw new InvalidArgumentError(`Use ${OPEN} or one or more of ${STATUSES.join(', ')}.`);
  });
  return [...new Set([...previous, ...found])];
}
