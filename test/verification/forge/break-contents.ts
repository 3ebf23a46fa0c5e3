import type { ForgedEvent, Loose } from '../../support/forge/event.ts';
import { atCall, atEntry, atRecord, atTaskEvent, contentWith, type Forging, type RuleBreaker } from './forging.ts';

const spaced = (content: string) => content.replace(':', ': ');
/** The same members, the last one first. */
const turned = (content: string) =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(content) as Loose).reverse()));

const enter = (ledger: Forging) => ledger.find('action.enter', { tool: 'task_create' });
const thought = (ledger: Forging) => ledger.find('thought');
const observed = (ledger: Forging) => ledger.find('observed', { tool: 'Bash' });
const coverage = (ledger: Forging) => ledger.find('observed.coverage');
const usage = (ledger: Forging) => ledger.find('observed.usage');
const options = (ledger: Forging) => ledger.find('project.options');
/** A version that is not the last of its task. */
const version = (ledger: Forging) => ledger.find('task.updated', { task_id: 'T-0002' });
const creation = (ledger: Forging) => ledger.find('task.created', { task_id: 'T-0002' });

const CUT = { cut: true, length: 9000, sha256: 'ab'.repeat(32), start: '\u0001'.repeat(2048) };

const ARGUMENTS: Readonly<Record<string, (content: string) => string>> = {
  'with a space': spaced,
  'with their keys turned round': turned,
  'that are no JSON': () => 'nothing',
  'that are empty': () => '',
  'that are a list': () => '[]',
  'with a noncanonical number': () => '{"limit":5.0}',
  'with half of a surrogate pair': () => '{"title":"\\ud800"}',
  'with a key twice': () => '{"limit":5,"limit":5}',
  'that should have been cut': () => JSON.stringify({ title: 'x'.repeat(5000) }),
  'that were cut, with a field more': () => JSON.stringify({ ...CUT, why: 'no' }),
  'that were cut at another place': () => JSON.stringify({ ...CUT, start: `${CUT.start}${CUT.start}` }),
  'that were cut though they were short': () => JSON.stringify({ ...CUT, length: 4096 }),
};

const EXTRAS: Readonly<Record<string, (content: string) => string>> = {
  'with a space': spaced,
  'with their keys turned round': turned,
  'that are no JSON': () => '}',
  'that are a list': () => '[]',
  'with an unknown field': () => '{"mood":"good"}',
  'with a branch that is null': () => '{"branch":null}',
  'with an empty branch': () => '{"branch":""}',
  'with a commit that is none': () => '{"commit_sha":"newest"}',
  'with tests that are not a list': () => '{"tests_run":"all"}',
  'with metadata that is a list': () => '{"metadata":[]}',
};

const OPTIONS: Readonly<Record<string, (content: string) => string>> = {
  'with a space': spaced,
  'with their keys turned round': turned,
  'that are no JSON': () => 'review',
  'that are a list': () => '[]',
  'without a project': () => '{"review":"person"}',
  'of a project that is not a slug': () => '{"project":"No Slug","review":"person"}',
  'with an unknown policy': () => '{"project":"default","review":"never"}',
  'with a policy that is null': () => '{"project":"default","review":null}',
  'with an unknown option': () => '{"mood":"good","project":"default"}',
  'with a required command that is not a list': () => '{"project":"default","require_observed":"npm test"}',
  'with an empty list of required commands': () => '{"project":"default","require_observed":[]}',
  'with a required command twice': () => '{"project":"default","require_observed":["make","make"]}',
  'with a required command that is blank': () => '{"project":"default","require_observed":[" "]}',
  'with a required command of two lines': () => '{"project":"default","require_observed":["a\\nb"]}',
  'with a required command that is too long': () => `{"project":"default","require_observed":["${'x'.repeat(513)}"]}`,
  'with too many required commands': () =>
    JSON.stringify({ project: 'default', require_observed: Array.from({ length: 21 }, (_, place) => `test ${place}`) }),
};

const OBSERVED: Readonly<Record<string, (content: string) => string>> = {
  'with a space': spaced,
  'with its keys turned round': turned,
  'that is no JSON': () => 'npm test',
  'that is a list': () => '[]',
  'with a command that is a list': () => '{"command":[]}',
  'with an unknown field': () => '{"mood":"good"}',
  'that is too long': () => `{"output":"${'x'.repeat(16_385)}"}`,
};

const COVERAGE: Readonly<Record<string, (content: string) => string>> = {
  'with a space': spaced,
  'that is no JSON': () => 'c-4',
  'without a list': () => '{}',
  'with fewer calls than are missing': () => '{"missing":[]}',
  'with more calls than are missing': () => '{"missing":["c-4","c-5"]}',
  'with an empty call': () => '{"missing":[""]}',
  'with a cut that was not needed': () => '{"cut":true,"missing":["c-4"]}',
  'with an unknown field': () => '{"missing":["c-4"],"mood":"good"}',
};

const USAGE: Readonly<Record<string, (content: string) => string>> = {
  'with a field': () => '{"cost":1}',
  'that is a list': () => '[]',
};

const TASKS: Readonly<Record<string, Loose>> = {
  'an unknown field': { mood: 'good' },
  'an empty title': { title: '' },
  'a title of two lines': { title: 'one\ntwo' },
  'a priority that there is not': { priority: 'urgent' },
  'a progress above 100': { progress: 101 },
  'a progress below 0': { progress: -0.5 },
  'a status of the other workflow': { status: 'GATHER' },
  'a workflow that there is not': { workflow: 'kanban' },
  'a negative estimate': { estimate_hours: -1 },
  'a label twice': { labels: ['red', 'red'] },
  'labels that are not a list': { labels: 'red' },
  'a dependency twice': { depends_on: ['T-0001', 'T-0001'] },
  'a parent with a noncanonical id': { parent_id: 'T-001' },
  'a reason though it is not blocked': { blocked_reason: 'tired' },
  'a project that is not a slug': { project: 'No Slug' },
  'a creation that is not a time': { created_at: 'long ago' },
  'an attempt of zero': { attempt: 0 },
  'a sequence of zero': { sequence: 0 },
  'an assignee that is a number': { assignee: 7 },
  'a holder that is null': { holder: null },
  'a holder that is a number': { holder: 7 },
  'a former holder that is null': { taken_from: null },
};

function edited(pick: (ledger: Forging) => ForgedEvent, edit: (content: string) => string) {
  return (ledger: Forging) => {
    const event = pick(ledger);
    event.content = edit(event.content);
    return event;
  };
}

/** Contents that are not of their grammar, with a digest that is true. */
export const CONTENT_BREAKERS: readonly RuleBreaker[] = [
  ...Object.entries(ARGUMENTS).map(([name, edit]) => ({
    name: `arguments ${name}`,
    breaks: (ledger: Forging) => atCall(edited(enter, edit)(ledger)),
  })),
  ...Object.entries(EXTRAS).map(([name, edit]) => ({
    name: `extras ${name}`,
    breaks: (ledger: Forging) => atRecord(edited(thought, edit)(ledger)),
  })),
  ...Object.entries(OPTIONS).map(([name, edit]) => ({
    name: `project options ${name}`,
    breaks: (ledger: Forging) => atEntry(edited(options, edit)(ledger)),
  })),
  ...Object.entries(OBSERVED).map(([name, edit]) => ({
    name: `observed content ${name}`,
    breaks: (ledger: Forging) => atEntry(edited(observed, edit)(ledger)),
  })),
  ...Object.entries(COVERAGE).map(([name, edit]) => ({
    name: `coverage content ${name}`,
    breaks: (ledger: Forging) => atEntry(edited(coverage, edit)(ledger)),
  })),
  ...Object.entries(USAGE).map(([name, edit]) => ({
    name: `usage content ${name}`,
    breaks: (ledger: Forging) => atEntry(edited(usage, edit)(ledger)),
  })),
  ...[
    ['with a space', spaced],
    ['with its keys turned round', turned],
  ].map(([name, edit]) => ({
    name: `a task ${String(name)}`,
    breaks: (ledger: Forging) => atTaskEvent(edited(version, edit as (content: string) => string)(ledger)),
  })),
  {
    name: 'a task without a field',
    breaks: (ledger) =>
      atTaskEvent(edited(version, (content) => content.replace(/"estimate_hours":[^,]*,/, ''))(ledger)),
  },
  ...Object.entries(TASKS).map(([name, changes]) => ({
    name: `a task with ${name}`,
    breaks: (ledger: Forging) => atTaskEvent(contentWith(version(ledger), changes)),
  })),
  ...['task_id', 'created_at', 'created_by', 'sequence', 'project', 'workflow'].map((field) => ({
    name: `an earlier version of a task with another ${field}`,
    breaks: (ledger: Forging) => {
      const [board, pipeline] = [{}, { workflow: 'pipeline', status: 'INIT' }];
      const others: Loose = {
        task_id: 'T-0001',
        created_at: '2026-01-01T00:00:00.000Z',
        created_by: 'mallory',
        sequence: 9,
        project: 'other',
        workflow: 'pipeline',
      };
      const changes = { ...(field === 'workflow' ? pipeline : board), [field]: others[field] };
      return atTaskEvent(contentWith(field === 'workflow' ? creation(ledger) : version(ledger), changes));
    },
  })),
  ...(
    [
      ['an unknown type', { type: 'opinion' }],
      ['no content', { content: '' }],
      ['content that is too long', { content: 'x'.repeat(5001) }],
      ['a control character', { content: 'a\u0007b' }],
      ['a control character of two bytes', { content: 'a\u0085b' }],
    ] as const
  ).map(([name, changes]) => ({
    name: `a thought with ${name}`,
    breaks: (ledger: Forging) => {
      const event = thought(ledger);
      Object.assign(event.thought ?? {}, changes);
      return atRecord(event);
    },
  })),
  ...(
    [
      ['no auditor', { auditor_id: '' }],
      ['an auditor of two lines', { auditor_id: 'a\nb' }],
      ['a reason that is too long', { reason: 'x'.repeat(1001) }],
    ] as const
  ).map(([name, changes]) => ({
    name: `a session with ${name}`,
    breaks: (ledger: Forging) => {
      const event = ledger.find('session.started');
      Object.assign(event.session ?? {}, changes);
      return atRecord(event);
    },
  })),
];
