import type * as z from 'zod';
import type { Tool } from '../tool.ts';

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A hostile input can have thousands of problems. */
export const MAX_ISSUES = 50;

/** An input that its schema refused. */
interface RefusedInput {
  readonly tool: Tool;
  readonly raw: unknown;
  readonly shape: z.ZodObject['shape'];
}

/** What is wrong with an input, each problem with its path and, if there is one, a hint. */
export function listIssues(all: readonly z.core.$ZodIssue[], refused: RefusedInput): InputIssue[] {
  // A value of the wrong type is not measured as well.
  const mistyped = new Set(all.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  const issues = all.filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(path.join('.')));
  const wrapped = new Set(listWrapped(issues, refused));
  const isConsequence = ({ code, path }: z.core.$ZodIssue) =>
    code !== 'unrecognized_keys' && wrapped.has(String(path[0]));
  // The message has only the first ones: the key around a field says more than that the field is missing.
  const ordered = [...issues.filter((issue) => !isConsequence(issue)), ...issues.filter(isConsequence)];
  return ordered.flatMap((issue) => toIssues(issue, refused));
}

/** The fields that were not given, but inside a key that the tool does not know. */
function listWrapped(issues: readonly z.core.$ZodIssue[], { tool, raw, shape }: RefusedInput): string[] {
  if (!isObject(raw)) return [];
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys.slice(0, MAX_ISSUES) : [],
  );
  return unknown
    .filter((key) => tool.explainUnknown?.(key, raw) === undefined)
    .flatMap((key) => fieldsIn(raw[key], shape))
    .filter((field) => raw[field] === undefined);
}

/** Zod reports unknown keys on the object around them; clients need the path of each key. */
function toIssues(issue: z.core.$ZodIssue, refused: RefusedInput): InputIssue[] {
  const { tool, raw } = refused;
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code !== 'unrecognized_keys')
    return [{ path: pathInInput(path, raw), message: issue.message + hintForNull(refused, path) }];
  return issue.keys.map((key, index) => {
    // A hint for each of thousands of keys would take long.
    const isExplained = path.length === 0 && index < MAX_ISSUES;
    const hint = isExplained ? ` (${hintFor(key, refused)})` : '';
    const explained = isExplained ? tool.explainUnknown?.(key, raw) : undefined;
    return { path: [...path, key], message: explained ?? `is not a field of this tool${hint}` };
  });
}

/** Models send null for what they leave out. In a field that takes null, the problem is another one. */
function hintForNull({ raw, shape }: RefusedInput, [field = '', ...rest]: InputIssue['path']): string {
  if (rest.length > 0 || !isObject(raw) || raw[field] !== null) return '';
  return isOptional(shape, String(field)) && !accepts(shape, String(field), null) ? ' (omit it)' : '';
}

function isOptional(shape: RefusedInput['shape'], field: string): boolean {
  return accepts(shape, field, undefined);
}

function accepts(shape: RefusedInput['shape'], field: string, value: null | undefined): boolean {
  return Object.hasOwn(shape, field) && shape[field]?.safeParse(value).success === true;
}

/** A field that takes a list also takes one item of it, which has no index. */
function pathInInput(path: InputIssue['path'], raw: unknown): InputIssue['path'] {
  const [field, index, ...rest] = path;
  const value = (raw as Readonly<Record<string, unknown>> | null)?.[String(field)];
  return typeof index === 'number' && value !== undefined && !Array.isArray(value) ? [String(field), ...rest] : path;
}

const MAX_EDITS = 2;

/** Names the field that was probably meant, else all fields. */
function hintFor(key: string, { raw, shape }: RefusedInput): string {
  const given = isObject(raw) ? raw : {};
  const fields = Object.keys(shape);
  const [nearest] = fields
    .map((field) => ({ field, edits: editDistance(key.slice(0, MAX_KEY), field) }))
    .filter(({ edits }) => edits <= Math.min(MAX_EDITS, key.length / 2))
    .sort((one, other) => one.edits - other.edits);
  if (nearest !== undefined) return `use ${nearest.field}`;
  if (fieldsIn(given[key], shape).length > 0) return 'send its members at the top level';
  // "id" or "task" for task_id, unless another field that was not given could be meant, too.
  const related = fields.filter((field) => field === `${key}_id` || field.endsWith(`_${key}`));
  const absent = related.filter((field) => given[field] === undefined);
  const needed = absent.filter((field) => !isOptional(shape, field));
  const [meant, ...others] = needed.length > 0 ? needed : absent;
  if (meant !== undefined && others.length === 0) return `use ${meant}`;
  return fields.length === 0 ? 'it takes none' : `use ${fields.join(', ')}`;
}

/** The fields of a tool that a value contains: an agent has wrapped its input. */
function fieldsIn(value: unknown, shape: RefusedInput['shape']): string[] {
  return isObject(value) ? Object.keys(shape).filter((field) => Object.hasOwn(value, field)) : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Longer than the name of any field. */
const MAX_KEY = 64;

/** The Levenshtein distance of two texts. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 0; at < one.length; at += 1) {
    const next = [at + 1];
    for (let column = 0; column < other.length; column += 1) {
      const replaced = (row[column] ?? 0) + (one[at] === other[column] ? 0 : 1);
      next.push(Math.min((row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
