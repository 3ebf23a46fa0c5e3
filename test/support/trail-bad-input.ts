import type { Arguments } from './trail-caller.ts';

/** One wrong input: what is wrong with it, and the path that the refusal must name. */
export interface BadInput {
  readonly tool: string;
  readonly defect: string;
  readonly input: Arguments;
  readonly path: readonly (string | number)[];
}

type Defects = Readonly<Record<string, unknown>>;

const NOT_TEXT: Defects = { null: null, 'a number': 7, 'a boolean': true, 'an array': ['x'], 'an object': { a: 1 } };
const CONTROLS: Defects = {
  'a null character': 'a\u0000b',
  'an escape': 'a\u001bb',
  'a C1 control': 'a\u0085b',
  'a high surrogate alone': 'a\ud800',
  'a low surrogate alone': '\udc00a',
};
const prose = (max: number): Defects => ({ ...NOT_TEXT, ...CONTROLS, 'one too long': 'x'.repeat(max + 1) });
const line = (max: number): Defects => ({ ...prose(max), empty: '', blank: ' \u3000', 'a line break': 'a\nb' });
const id = (letter: string, other: string): Defects => ({
  ...NOT_TEXT,
  empty: '',
  'no number': `${letter}-`,
  'three digits': `${letter}-001`,
  'a zero too many': `${letter}-00001`,
  'number zero': `${letter}-0000`,
  'another kind': `${other}-0001`,
  'lower case': `${letter.toLowerCase()}-0001`,
  'space around': ` ${letter}-0001`,
  'SQL inside': `${letter}-0001; DROP TABLE thoughts`,
  'a number without end': `${letter}-${'9'.repeat(400)}`,
});
const choice: Defects = { ...NOT_TEXT, empty: '', unknown: 'other', 'upper case': 'DECISION' };
const flag: Defects = { null: null, text: 'true', number: 1 };
const count = (min: number, max: number): Defects => ({
  null: null,
  text: '5',
  fraction: min + 0.5,
  'too small': min - 1,
  ...(max === Number.MAX_SAFE_INTEGER ? {} : { 'too large': max + 1 }),
  'beyond all integers': 2 ** 53,
});

const FIELDS: Readonly<Record<string, Readonly<Record<string, Defects>>>> = {
  audit_session_start: {
    task_id: id('T', 'A'),
    auditor_id: line(128),
    reason: prose(1000),
    scope: { ...choice, 'a list': ['deep'] },
  },
  thought_record: {
    task_id: id('T', 'A'),
    session_id: id('A', 'T'),
    type: choice,
    content: { ...prose(5000), empty: '', blank: ' \n\t ' },
    branch: line(256),
    commit_sha: { ...NOT_TEXT, empty: '', short: 'abc123', 'no hexadecimal': 'xyzxyzxyz', long: 'a'.repeat(65) },
    tests_run: { null: null, text: 'a.test.ts', 'too many': Array.from({ length: 201 }, () => 't') },
    blockers: { null: null, text: 'a licence', 'too many': Array.from({ length: 51 }, () => 'b') },
    metadata: {
      null: null,
      text: '{}',
      'an array': [1],
      'too long': { a: 'x'.repeat(16_384) },
    },
  },
  thought_record_list: {
    task_id: id('T', 'A'),
    session_id: id('A', 'T'),
    type: choice,
    limit: count(1, 500),
    offset: count(0, Number.MAX_SAFE_INTEGER),
    verify_chain: flag,
  },
  audit_verify_chain: { task_id: id('T', 'A'), session_id: id('A', 'T'), full_trace: flag },
  merkle_finalize: { session_id: id('A', 'T'), task_id: id('T', 'A') },
  merkle_root: { session_id: id('A', 'T') },
};

const GOOD: Readonly<Record<string, Arguments>> = {
  audit_session_start: { task_id: 'T-0001', auditor_id: 'auditor' },
  thought_record: { task_id: 'T-0001', type: 'decision', content: 'Because.' },
  thought_record_list: {},
  audit_verify_chain: { task_id: 'T-0001' },
  merkle_finalize: { session_id: 'A-0001' },
  merkle_root: { session_id: 'A-0001' },
};

/** Defects that lie deeper than the field, with their whole path. */
const DEEPER: readonly BadInput[] = [
  deeper('an element that is no text', { tests_run: ['ok', 7] }, ['tests_run', 1]),
  deeper('an empty element', { blockers: [''] }, ['blockers', 0]),
  deeper('an element that is too long', { tests_run: ['x'.repeat(513)] }, ['tests_run', 0]),
  deeper('a surrogate alone in a value', { metadata: { a: { b: '\ud800' } } }, ['metadata', 'a', 'b']),
  deeper('a long key', { metadata: { ['k'.repeat(257)]: 1 } }, ['metadata', 'k'.repeat(257)]),
  deeper('an integer beyond 2^53', { metadata: { a: 2 ** 60 } }, ['metadata', 'a']),
  deeper('a nest without end', { metadata: { a: nest(100) } }, ['metadata', 'a', 'a']),
];

export const BAD_INPUTS: readonly BadInput[] = [
  ...Object.entries(FIELDS).flatMap(([tool, fields]) => [
    ...Object.entries(fields).flatMap(([field, defects]) =>
      Object.entries(defects).map(([defect, value]) => ({
        tool,
        defect: `${field} is ${defect}`,
        input: { ...GOOD[tool], [field]: value },
        path: [field],
      })),
    ),
    ...Object.keys(GOOD[tool] ?? {}).map((field) => missing(tool, field)),
    { tool, defect: 'an unknown key', input: { ...GOOD[tool], surprise: 1 }, path: ['surprise'] },
  ]),
  ...DEEPER,
];

function missing(tool: string, field: string): BadInput {
  const { [field]: _gone, ...input } = GOOD[tool] ?? {};
  // Either of two ids will do for a verification, so that no single field is at fault.
  return { tool, defect: `${field} is missing`, input, path: tool === 'audit_verify_chain' ? [] : [field] };
}

function deeper(defect: string, fields: Arguments, path: readonly (string | number)[]): BadInput {
  return { tool: 'thought_record', defect, input: { ...GOOD['thought_record'], ...fields }, path };
}

function nest(depth: number): unknown {
  return depth === 0 ? 1 : { a: nest(depth - 1) };
}
