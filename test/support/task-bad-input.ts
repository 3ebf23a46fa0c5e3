import type { Arguments } from './task-agent.ts';

/** One wrong input: what is wrong with it, and the path that the refusal must name. */
export interface BadInput {
  readonly tool: string;
  readonly defect: string;
  readonly input: Arguments;
  readonly path: readonly (string | number)[];
}

type Defects = Readonly<Record<string, unknown>>;

const lone = (text: string) => `${text}\ud800`;

const NOT_TEXT: Defects = { null: null, number: 7, boolean: true, array: ['x'], object: { text: 'x' } };

function line(max: number): Defects {
  return {
    ...NOT_TEXT,
    empty: '',
    blank: ' \u3000 ',
    'too long': 'x'.repeat(max + 1),
    'a line break': 'a\nb',
    'a null character': 'a\u0000b',
    'an escape character': '\u001b[31mred',
    'a C1 control': 'a\u0085b',
    'a lone high surrogate': lone('x'),
    'a lone low surrogate': '\udc00x',
  };
}

function prose(max: number): Defects {
  return {
    ...NOT_TEXT,
    'too long': 'x'.repeat(max + 1),
    'much too long': 'x'.repeat(1_000_000),
    'a null character': 'a\u0000b',
    'a backspace': 'a\bb',
    'a lone surrogate': lone('x'),
  };
}

const ID: Defects = {
  ...NOT_TEXT,
  empty: '',
  'a session id': 'A-0001',
  'a thought id': '\u0398-0001',
  'too few digits': 'T-042',
  'one digit': ['T', 1].join('-'),
  'too many zeros': 'T-00001',
  'lower case': 't-0001',
  zero: 'T-0000',
  'a space before': ' T-0001',
  'a line break after': 'T-0001\n',
  'full-width digits': 'T-\uff10\uff10\uff10\uff11',
  'beyond every counter': `T-${'9'.repeat(13)}`,
  negative: 'T--001',
  injection: "T-0001' OR '1'='1",
};

const CHOICE: Defects = { ...NOT_TEXT, empty: '', 'another word': 'someday', 'an inherited name': 'constructor' };

const PROJECT: Defects = {
  ...NOT_TEXT,
  empty: '',
  'upper case': 'Ours',
  'a space': 'our project',
  'a slash': 'our/project',
  'too long': 'x'.repeat(65),
  'a line break after': 'ours\n',
  'a lone surrogate': lone('x'),
};

const NUMBER: Defects = { null: null, text: '5', boolean: true, array: [5], 'not a number': Number.NaN };
const ENDLESS: Defects = { endless: Number.POSITIVE_INFINITY, 'beyond 2^53': 2 ** 53 };
const HOURS: Defects = { ...NUMBER, ...ENDLESS, negative: -0.5, 'too many': 1000.5 };

function whole(min: number, max?: number): Defects {
  const tooMuch = max === undefined ? {} : { 'too much': max + 1 };
  return { ...NUMBER, ...ENDLESS, 'too little': min - 1, 'a fraction': min + 0.5, ...tooMuch };
}

const YES_OR_NO: Defects = { null: null, text: 'true', number: 1, array: [true] };

const TIME: Defects = {
  ...NOT_TEXT,
  empty: '',
  'plain text': 'yesterday',
  'a day that is none': '2026-02-30',
  'a leap day that is none': '2025-02-29T00:00:00Z',
  'an hour that is none': '2026-04-08T25:00:00Z',
  'a minute that is none': '2026-04-08T22:60:00Z',
  'a month that is none': '2026-13-01',
  'no time zone': '2026-04-08T22:15:30',
  'an American date': '04/08/2026',
  'seconds since 1970': '1775686530',
  'a year of five digits': '+12026-04-08T22:15:30Z',
  'beyond the year 9999': '9999-12-31T23:59:59-23:59',
  'too long': `2026-04-08T22:15:30.${'0'.repeat(60)}Z`,
  'a lone surrogate': lone('2026-04-08'),
};

/** A list is wrong as a whole, or in one member. */
function listOf(member: Defects, valid: string, max: number): readonly Wrong[] {
  return [
    ...wrongs('', { null: null, text: valid, number: 1, object: { 0: valid } }),
    ...wrongs('', { 'too many': Array.from({ length: max + 1 }, () => valid), huge: Array(20_000).fill(valid) }),
    ...Object.entries(member).map(([defect, value]) => ({
      defect: `member ${defect}`,
      value: [valid, value],
      at: [1],
    })),
  ];
}

interface Wrong {
  readonly defect: string;
  readonly value: unknown;
  readonly at: readonly number[];
}

function wrongs(prefix: string, defects: Defects): readonly Wrong[] {
  return Object.entries(defects).map(([defect, value]) => ({ defect: prefix + defect, value, at: [] }));
}

interface ToolCase {
  readonly valid: Arguments;
  readonly required: readonly string[];
  readonly fields: Readonly<Record<string, readonly Wrong[]>>;
}

const one = (defects: Defects) => wrongs('', defects);
const task = one(ID);
const text = { title: one(line(256)), description: one(prose(8000)), assignee: one(line(128)) };
const links = { parent_id: task, depends_on: listOf(ID, 'T-0001', 50) };
const marks = { priority: one(CHOICE), labels: listOf(line(64), 'red', 20), estimate_hours: one(HOURS) };

const TOOLS: Readonly<Record<string, ToolCase>> = {
  task_create: {
    valid: { title: 'valid' },
    required: ['title'],
    fields: { ...text, ...links, ...marks, project: one(PROJECT), workflow: one(CHOICE), status: one(CHOICE) },
  },
  task_update: {
    valid: { task_id: 'T-0001', progress: 1 },
    required: ['task_id'],
    fields: {
      ...text,
      ...links,
      ...marks,
      task_id: task,
      status: one(CHOICE),
      progress: one(whole(0, 100)),
      blocked_reason: one(line(1000)),
    },
  },
  task_get: {
    valid: { task_id: 'T-0001' },
    required: ['task_id'],
    fields: { task_id: task, include_thought_trail: one(YES_OR_NO), include_dependents: one(YES_OR_NO) },
  },
  task_list: {
    valid: {},
    required: [],
    fields: {
      project: one(PROJECT),
      status: listOf(CHOICE, 'todo', 15),
      priority: listOf(CHOICE, 'low', 4),
      assignee: one(line(128)),
      label: one(line(64)),
      created_after: one(TIME),
      created_before: one(TIME),
      search: one(prose(256)),
      limit: one(whole(1, 500)),
      offset: one(whole(0)),
      sort_by: one(CHOICE),
      sort_order: one(CHOICE),
    },
  },
  task_next_actions: {
    valid: {},
    required: [],
    fields: { project: one(PROJECT), limit: one(whole(1, 100)), include_blocked: one(YES_OR_NO) },
  },
};

export const FIELDS_TRIED = Object.fromEntries(
  Object.entries(TOOLS).map(([tool, { fields }]) => [tool, Object.keys(fields).toSorted()]),
);

/** Every defect of every field of every tool, then what is wrong with the object as a whole. */
export function badInputs(tool: string): readonly BadInput[] {
  const { valid, required, fields } = TOOLS[tool] as ToolCase;
  const unknown = ['unknown', 'Title', 'tasks', 'toString', 'deleted_at', ' '];
  return [
    ...Object.entries(fields).flatMap(([field, defects]) =>
      defects.map(({ defect, value, at }) => ({
        tool,
        defect: `${field}: ${defect}`,
        input: { ...valid, [field]: value },
        path: [field, ...at],
      })),
    ),
    ...required.map((field) => ({ tool, defect: `${field}: missing`, input: without(valid, field), path: [field] })),
    ...unknown.map((key) => ({ tool, defect: `unknown key "${key}"`, input: { ...valid, [key]: 'x' }, path: [key] })),
    {
      tool,
      defect: 'a lone surrogate in a key',
      input: { ...valid, [lone('k')]: 1 },
      path: [lone('k').toWellFormed()],
    },
  ];
}

function without(input: Arguments, field: string): Arguments {
  return Object.fromEntries(Object.entries(input).filter(([name]) => name !== field));
}
