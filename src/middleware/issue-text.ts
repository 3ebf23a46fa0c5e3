import type * as z from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/**
 * A problem with an input as the end of a sentence that begins with the field: "is empty", "must be a text". People read
 * it at the command line. Undefined for a schema with a message of its own.
 */
export function describeIssue(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${kindOf(issue.expected)}, not ${nameOf(issue.input, issue.expected)}`;
    case 'too_small':
      return describeTooSmall(issue);
    case 'too_big':
      return describeTooBig(issue);
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return `cannot be ${nameOf(issue.input)}`;
    default:
      return undefined;
  }
}

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
