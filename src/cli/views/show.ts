import type { Task } from '../../domains/tasks/record.ts';
import { isOpen } from '../../domains/tasks/workflows.ts';
import type { Evidence } from '../../integrity/evidence/compare.ts';
import { evidenceText } from '../../integrity/evidence/evidence-text.ts';
import type { Style, Styles } from '../../terminal-text.ts';
import { formatDuration } from '../../text/duration.ts';
import type { Change, TaskEvent } from '../../verification/task-history.ts';
import { describeGaps, describeWhole } from './coverage.ts';
import { evidencePaint } from './evidence.ts';
import {
  extraText,
  type Shown,
  type ShownClaim,
  type ShownCommit,
  type ShownSession,
  type ShownThought,
} from './show-data.ts';
import { listNames, plural, priorityPaint, statusPaint, type Terminal, type TimeFormat } from './terminal.ts';
import { besideTerm, cut, displayWidth, printable, printableProse, wrap } from './text-width.ts';

const LABEL_WIDTH = 12;
const MAX_PROBLEMS = 20;
const MAX_OTHER_COMMITS = 10;
const SHORT_SHA = 12;
/** A shorter part of a name says little. */
const MIN_AUTHOR_WIDTH = 12;

/** The width is infinite if the output is not a terminal. */
interface Page {
  readonly width: number;
  readonly colors: Styles;
  readonly timeOf: TimeFormat;
  /** Makes a link of the hash of a commit. */
  readonly linkCommit: LinkCommit;
}

export type LinkCommit = (sha: string) => Style;

export function renderTask(
  shown: Shown,
  { width = Number.POSITIVE_INFINITY, colors }: Terminal,
  { timeOf, linkCommit }: Pick<Page, 'timeOf' | 'linkCommit'>,
): string[] {
  const page = { width, colors, timeOf, linkCommit };
  const { task, thoughts, sessions, events } = shown;
  const evidenceOf = ({ thought_id }: ShownThought) => shown.evidence.filter((item) => item.thought_id === thought_id);
  const description = printableProse(task.description).trimEnd();
  const sections = [
    [...titleLines(task, page), ...fieldLines(shown, page)],
    description === '' ? [] : indented(description, '  ', page),
    section(
      'Decisions',
      thoughts.flatMap((thought) => thoughtLines(thought, evidenceOf(thought), page)),
      page,
    ),
    section(
      'Sessions',
      sessions.flatMap((session) => sessionLines(session, page)),
      page,
    ),
    section(
      'History',
      events.flatMap((event) => eventLines(event, page)),
      page,
    ),
    verdictLines(shown, page),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function titleLines({ task_id, title, priority }: Task, { width, colors }: Page): string[] {
  return afterId(task_id, printable(title), width, { id: priorityPaint(colors, priority), text: colors.bold });
}

/** A heading, whose further lines begin below the text. */
function afterId(
  id: string,
  text: string,
  width: number,
  paint: { readonly id: Style; readonly text: Style },
): string[] {
  const [first = '', ...rest] = wrap(text, width - id.length - 2).map(paint.text);
  return [`${paint.id(id)}  ${first}`, ...rest.map((line) => ' '.repeat(id.length + 2) + line)];
}

function fieldLines(shown: Shown, page: Page): string[] {
  const { task, claim, waits_for, awaited_by, children } = shown;
  const { colors } = page;
  const status = statusPaint(colors, task.status);
  const field = (label: string, text: string, paint: Style = String) =>
    text === '' ? [] : labeled(label, text, paint, page);
  return [
    ...field('status', printable(task.status), status),
    ...field('priority', printable(task.priority), priorityPaint(colors, task.priority)),
    ...field('progress', isOpen(task.status) ? `${task.progress} %` : ''),
    ...field('assignee', printable(task.assignee)),
    ...field('claim', claimText(claim), claim?.lapsed ? colors.red : String),
    ...field('blocked', printable(task.blocked_reason ?? ''), colors.red),
    ...field('waits for', listNames(waits_for), colors.yellow),
    ...field('awaited by', listNames(awaited_by)),
    ...field('project', `${printable(task.project)}, task ${task.sequence} in it`),
    ...field('workflow', `${printable(task.workflow)}, attempt ${task.attempt}`),
    ...field('labels', task.labels.map(printable).join(', ')),
    ...field('estimate', task.estimate_hours === null ? '' : `${task.estimate_hours} h`),
    ...field('parent', task.parent_id ?? ''),
    ...field('depends on', task.depends_on.map(printable).join(', ')),
    ...field('children', listNames(children)),
    ...commitLines(shown, page),
    ...recorderLines(shown, page),
    ...field('created', `${page.timeOf(task.created_at)} by ${printable(task.created_by)}`),
    ...field('updated', `${page.timeOf(task.updated_at)} by ${printable(task.updated_by)}`),
  ];
}

/** Whether the observed actions of the task are all there were. */
function recorderLines({ coverage }: Shown, page: Page): string[] {
  const gaps = describeGaps(coverage);
  const paint = gaps.length === 0 ? String : page.colors.yellow;
  return (gaps.length === 0 ? describeWhole(coverage) : gaps).flatMap((text, index) =>
    labeled(index === 0 ? 'recorder' : '', text, paint, page),
  );
}

function claimText(claim: ShownClaim | null): string {
  if (claim === null) return '';
  const { holder, silent_for_s, lapsed, taken_from, claim: token } = claim;
  const silence = `silent for ${formatDuration(silent_for_s * 1000)}`;
  const facts = [
    `held by ${printable(holder)}`,
    ...(token === null ? [] : [`since entry ${token}`]),
    ...(taken_from === null ? [] : [`taken over from ${printable(taken_from)}`]),
    lapsed ? `lapsed: ${silence}, so another agent may take it over` : silence,
  ];
  return facts.join(', ');
}

/** All that thoughts name, and the newest of the others; the timeline has every one. */
function commitLines({ commits, evidence, task }: Shown, page: Page): string[] {
  const others = commits.filter(({ thought_id }) => thought_id === undefined);
  const left = Math.max(0, others.length - MAX_OTHER_COMMITS);
  const shown = commits.filter((commit) => !others.slice(0, left).includes(commit));
  const lines = shown.flatMap((commit, index) =>
    labeled(index === 0 ? 'commits' : '', commitText(commit, evidence), commitPaint(commit, page), page),
  );
  if (left === 0) return lines;
  return [...lines, ...labeled('', `and ${plural(left, 'older one')}: colibri timeline ${task.task_id}`, String, page)];
}

function commitText({ commit_sha, branch, thought_id, entry }: ShownCommit, evidence: readonly Evidence[]): string {
  // Git writes the whole hash, people write what identifies it.
  const sha = thought_id === undefined ? commit_sha.slice(0, SHORT_SHA) : printable(commit_sha);
  const compared = evidence.find((item) => item.thought_id === thought_id && item.field === 'commit_sha');
  const reported = entry === undefined ? [] : `observed: entry #${entry}`;
  const where = [thought_id ?? [], compared === undefined ? reported : evidenceText(compared)].flat().join(', ');
  return `${sha} ${branch === undefined ? '' : `on ${printable(branch)} `}(${where})`;
}

/** Links the hash, also where it continues in the next line. */
function commitPaint({ commit_sha }: ShownCommit, { linkCommit }: Page): Style {
  const link = linkCommit(commit_sha);
  return (line) => line.replace(/^[\da-f]+(?= |$)/i, (part) => (commit_sha.includes(part) ? link(part) : part));
}

function thoughtLines(thought: ShownThought, evidence: readonly Evidence[], page: Page): string[] {
  const { cyan, dim, bold } = page.colors;
  const type = printable(thought.type);
  const author = cut(printable(thought.recorded_by), page.width - displayWidth(`● ${type} by `));
  const place = `${page.timeOf(thought.recorded_at)} · ${thought.thought_id} · ${thought.session_id}`;
  const extras = Object.entries(thought.extras)
    .toSorted(([a], [b]) => EXTRAS.indexOf(a) - EXTRAS.indexOf(b))
    .flatMap(([name, value]) => extraLines(name, value, evidence, page));
  return [
    `${cyan('●')} ${bold(type)} by ${cyan(author)}`,
    ...indented(place, '│ ', page, dim),
    ...indented(printableProse(thought.content).trimEnd(), '│ ', page),
    ...extras,
    dim('│'),
  ];
}

/** Tests and commits come with what was observed of them, one line each. */
function extraLines(name: string, value: unknown, evidence: readonly Evidence[], page: Page): string[] {
  const compared = evidence.filter(({ field }) => field === name);
  if (compared.length === 0)
    return indented(`${printable(name)}: ${printable(extraText(value))}`, '│ ', page, page.colors.dim);
  return compared.flatMap((item) => {
    const paint = item.state === 'said' ? page.colors.dim : evidencePaint(page.colors, item.state);
    return indented(`${name}: ${printable(item.value)} (${evidenceText(item)})`, '│ ', page, paint);
  });
}

const EXTRAS = ['branch', 'commit_sha', 'tests_run', 'blockers', 'metadata'];

function sessionLines(session: ShownSession, page: Page): string[] {
  const { green, yellow, dim } = page.colors;
  const { session_id, task_id, scope, reason, started_at, finalized_at, root, leaf_count } = session;
  const [state, paint] =
    finalized_at === null
      ? [`live, ${plural(session.record_count, 'record')} so far`, yellow]
      : [`sealed with ${plural(leaf_count ?? 0, 'record')}`, green];
  const facts = `${printable(scope)} session of ${task_id}, opened ${page.timeOf(started_at)} by ${openedBy(session)}`;
  return [
    ...afterId(session_id, state, page.width, { id: String, text: paint }),
    ...indented(facts, '  ', page, dim),
    ...(finalized_at === null ? [] : indented(`sealed ${page.timeOf(finalized_at)}`, '  ', page, dim)),
    ...(reason === null ? [] : indented(printable(reason), '  ', page, dim)),
    ...(root === null ? [] : indented(`root ${printable(root)}`, '  ', page, dim)),
  ];
}

/** The actor is recorded by the server; the auditor is what the actor wrote. */
function openedBy({ started_by, auditor_id }: ShownSession): string {
  const actor = printable(started_by);
  return started_by === auditor_id ? actor : `${actor}, naming as auditor "${printable(auditor_id)}"`;
}

function eventLines(event: TaskEvent, page: Page): string[] {
  const { at, by } = event;
  const { dim, cyan } = page.colors;
  const what = eventText(event);
  const time = page.timeOf(at);
  const author = printable(by);
  const hasRoom = page.width - time.length - 2 >= Math.min(MIN_AUTHOR_WIDTH, displayWidth(author));
  const heading = hasRoom
    ? [`${dim(time)}  ${cyan(cut(author, page.width - time.length - 2))}`]
    : [dim(time), ...indented(author, '  ', page, cyan)];
  return [...heading, ...indented(printable(what), '  ', page)];
}

/** "todo → in_progress, assignee unassigned → ada" */
export function eventText({ kind, status, changes }: Pick<TaskEvent, 'kind' | 'status' | 'changes'>): string {
  if (kind === 'task.created') return `created as ${status}`;
  return statusFirst(changes).map(changeText).join(', ') || 'no changes';
}

function statusFirst(changes: readonly Change[]): Change[] {
  return changes.toSorted((a, b) => Number(b.field === 'status') - Number(a.field === 'status'));
}

const LONG = new Set(['description', 'title', 'blocked_reason']);

function changeText({ field, from, to }: Change): string {
  if (field === 'status') return `${valueText(from)} → ${valueText(to)}`;
  if (field === 'blocked_reason' && to === null) return 'no longer blocked';
  if (LONG.has(field)) return field === 'description' ? 'description rewritten' : `${field}: ${valueText(to)}`;
  return `${field} ${valueText(from)} → ${valueText(to)}`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(' ');
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function verdictLines({ task, thoughts, events, redacted, verdict, problems }: Shown, page: Page): string[] {
  const { green, red, bold } = page.colors;
  if (verdict === 'whole') {
    const records = `${plural(thoughts.length, 'decision')} and ${plural(events.length, 'change')}`;
    const except = redacted === 0 ? '' : `, except the text of ${redacted}, which was redacted`;
    const text = `✔ ${task.task_id} verifies: ${records} are as they were recorded${except}.`;
    return wrap(text, page.width).map((line) => bold(green(line)));
  }
  const text = `✘ ${task.task_id} does NOT verify: recorded data was changed. Run colibri verify to check the whole ledger.`;
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ record, problem }) => `${printable(record)}: ${printable(problem)}`);
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : [];
  return [
    ...wrap(text, page.width).map((line) => bold(red(line))),
    ...[...shown, ...more].flatMap((line) => indented(line, '  ', page, red)),
  ];
}

function section(title: string, lines: readonly string[], { colors }: Page): string[] {
  return lines.length === 0 ? [] : [colors.bold(title), ...lines];
}

function labeled(label: string, text: string, paint: Style, { width, colors }: Page): string[] {
  const term = { text: `  ${label}`, width: LABEL_WIDTH + 2, paint: colors.dim };
  return besideTerm(term, text, width, paint);
}

function indented(text: string, margin: string, { width, colors }: Page, paint: Style = String) {
  const edge = margin.trim() === '' ? margin : colors.dim(margin);
  return wrap(text, width - margin.length).map((line) => (line === '' ? edge.trimEnd() : edge + paint(line)));
}
