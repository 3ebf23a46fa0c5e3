import type * as z from 'zod';
import { ColibriError } from '../errors.ts';
import type { NotCanonical } from '../integrity/index.ts';
import type { Outcome, Tool } from '../tool.ts';
import type { ActiveCall, ValidCall } from './call.ts';
import { describeIssue } from './issue-text.ts';
import { failed } from './outcome.ts';

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Stage 2. Parses the raw input with the tool's own schema; a rejection lists every problem. */
export function validate(active: ActiveCall, tool: Tool, defect: NotCanonical | undefined): Outcome<ValidCall> {
  try {
    return { ok: true, data: { tool, input: parse(tool, active.call.rawInput, defect) } };
  } catch (thrown) {
    return failed(thrown, active.event.correlationId);
  }
}

function parse(tool: Tool, raw: unknown, defect: NotCanonical | undefined): unknown {
  if (defect !== undefined) throw invalid(tool, [{ path: defect.path, message: defect.reason }]);
  const schema = tool.inputSchema as unknown as z.ZodObject;
  const parsed = schema.safeParse(tool.normalize === undefined ? raw : tool.normalize(raw), { error: describeIssue });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // A value of the wrong type is not measured as well.
  const wrong = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  const told = issues.filter(({ code, path }) => code === 'invalid_type' || !wrong.has(path.join('.')));
  throw invalid(
    tool,
    told.flatMap((issue) => toIssues(issue, raw, Object.keys(schema.shape))),
  );
}

/** Zod reports unknown keys on the object around them; clients need the path of each key. */
function toIssues(issue: z.core.$ZodIssue, raw: unknown, fields: readonly string[]): InputIssue[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code !== 'unrecognized_keys') return [{ path: pathInInput(path, raw), message: issue.message }];
  // A hint for each of thousands of keys would take long.
  return issue.keys.map((key, index) => {
    const hint = path.length === 0 && index < MAX_ISSUES ? ` (${hintFor(key, fields)})` : '';
    return { path: [...path, key], message: `is not a field of this tool${hint}` };
  });
}

/** A field that takes a list also takes one item of it, which has no index. */
function pathInInput(path: InputIssue['path'], raw: unknown): InputIssue['path'] {
  const [field, index, ...rest] = path;
  const value = (raw as Readonly<Record<string, unknown>> | null)?.[String(field)];
  return typeof index === 'number' && value !== undefined && !Array.isArray(value) ? [String(field), ...rest] : path;
}

const MAX_SLIPS = 2;

/** Names the field that was probably meant, else all fields. */
function hintFor(key: string, fields: readonly string[]): string {
  const [nearest] = fields
    .map((field) => ({ field, slips: countSlips(key.slice(0, MAX_KEY), field) }))
    .filter(({ slips }) => slips <= Math.min(MAX_SLIPS, key.length / 2))
    .sort((one, other) => one.slips - other.slips);
  if (nearest !== undefined) return `use ${nearest.field}`;
  return fields.length === 0 ? 'it takes none' : `use ${fields.join(', ')}`;
}

/** Longer than the name of any field. */
const MAX_KEY = 64;

/** The Levenshtein distance. */
function countSlips(one: string, other: string): number {
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

/** A hostile input can have thousands of problems. */
const MAX_ISSUES = 50;

function invalid(tool: Tool, issues: readonly InputIssue[]): ColibriError {
  const shown = issues.slice(0, MAX_ISSUES);
  const first = shown
    .slice(0, 3)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = issues.length > 3 ? ` (and ${issues.length - 3} more)` : '';
  return new ColibriError('INVALID_PARAMS', `${tool.name}: ${first.join('; ')}${more}`, { issues: shown });
}
