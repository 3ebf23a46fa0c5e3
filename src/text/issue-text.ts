import type * as z from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/**
 * A problem with an input as the end of a sentence that begins with the field: "is empty", "must be a text". People
 * read it at the command line. Undefined for a schema with a message of its own.
 */
export function describeIssue(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${kindOf(issue.expected)}, not ${nameOf(issue.input, issue.expected)}${hintFor(issue)}`;
    case 'too_small':
      return describeTooSmall(issue);
    case 'too_big':
      return describeTooBig(issue);
    case 'invalid_value':
      return describeChoice(issue);
    case 'invalid_union':
      return `cannot be ${nameOf(issue.input)}`;
    default:
      return undefined;
  }
}

type InvalidType = Extract<RawIssue, { code: 'invalid_type' }>;
type InvalidValue = Extract<RawIssue, { code: 'invalid_value' }>;

function describeChoice({ values, input }: InvalidValue): string {
  const choices = `${values.length === 1 ? '' : 'one of '}${values.map(String).join(', ')}`;
  if (input === undefined) return `is missing (use ${choices})`;
  if (typeof input !== 'string') return `must be ${choices}, not ${nameOf(input)}`;
  const meant = values.find((value) => plain(String(value)) === plain(input.slice(0, MAX_REPEATED)));
  return `must be ${choices}${meant === undefined ? '' : ` (use ${String(meant)})`}`;
}

/** "In progress" and "IN-PROGRESS" mean in_progress. */
function plain(value: string): string {
  return value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** Longer values are not repeated in a hint. */
const MAX_REPEATED = 40;

/** What to send instead, for the slips of models that write JSON: quotes too many, brackets too few. */
function hintFor({ expected, input }: InvalidType): string {
  if (typeof input === 'string') return hintForText(expected, input);
  if (expected !== 'string' || !Array.isArray(input) || typeof input[0] !== 'string') return '';
  if (input.length > 1)
    return input.every((item) => ID.test(String(item))) ? ' (make one call for each)' : ' (send one text)';
  return input[0].length > MAX_REPEATED ? '' : ` (send ${JSON.stringify(input[0])})`;
}

function hintForText(expected: string, text: string): string {
  if (text === '' || text.length > MAX_REPEATED) return '';
  const isNumber = (expected === 'number' && NUMBER.test(text)) || (expected === 'int' && INTEGER.test(text));
  const isBoolean = expected === 'boolean' && (text === 'true' || text === 'false');
  if (isNumber || isBoolean) return ` (send ${text} without quotes)`;
  if (expected !== 'array') return '';
  if (text.startsWith('[')) return ' (send the list without quotes around it)';
  return text.includes(',') ? ' (send a list of texts)' : ` (send [${JSON.stringify(text)}])`;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
/** Of a task, a session or a thought. */
const ID = /^\p{Lu}-\d+$/u;

type TooSmall = Extract<RawIssue, { code: 'too_small' }>;
type TooBig = Extract<RawIssue, { code: 'too_big' }>;

function describeTooSmall({ origin, minimum, inclusive }: TooSmall): string {
  const unit = unitOf(origin);
  if (unit === undefined) return `must be ${inclusive === false ? 'more than' : 'at least'} ${minimum}`;
  return Number(minimum) === 1 ? 'is empty' : `has fewer than ${minimum} ${unit}`;
}

function describeTooBig({ origin, maximum, inclusive }: TooBig): string {
  const unit = unitOf(origin);
  if (unit === undefined) return `must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`;
  return `has more than ${maximum} ${unit}`;
}

/** What is counted; undefined for a number, which is compared itself. */
function unitOf(origin: string): string | undefined {
  const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', record: 'members' };
  return units[origin];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function kindOf(expected: string): string {
  return KINDS[expected] ?? expected;
}

function nameOf(value: unknown, expected?: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean' || (expected === 'int' && typeof value === 'number')) return String(value);
  return kindOf(typeof value);
}
