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
  throw invalid(tool, parsed.error.issues.flatMap(toIssues));
}

/** Zod reports unknown keys on the object around them; clients need the path of each key. */
function toIssues(issue: z.core.$ZodIssue): InputIssue[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a field of this tool' }));
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
