import type * as z from 'zod';
import { ColibriError } from '../errors.ts';
import type { NotCanonical } from '../integrity/index.ts';
import type { Tool } from '../tool.ts';

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Stage 2. The tool's own schema against the raw input; every problem is listed, not only the first. */
export function validate(tool: Tool, raw: unknown, defect: NotCanonical | undefined): unknown {
  if (defect !== undefined) throw invalid(tool, [{ path: defect.path, message: defect.reason }]);
  const parsed = tool.inputSchema.safeParse(tool.normalize === undefined ? raw : tool.normalize(raw));
  if (parsed.success) return parsed.data;
  throw invalid(tool, parsed.error.issues.flatMap(toIssues));
}

/** An unknown key is a problem of that key, not of the object around it. */
function toIssues(issue: z.core.$ZodIssue): InputIssue[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a field of this tool' }));
}

/** A hostile input can have a problem in each of its thousands of members. */
const MAX_ISSUES = 50;

function invalid(tool: Tool, issues: readonly InputIssue[]): ColibriError {
  const shown = issues.slice(0, MAX_ISSUES);
  const first = shown
    .slice(0, 3)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = issues.length > 3 ? ` (and ${issues.length - 3} more)` : '';
  return new ColibriError('INVALID_PARAMS', `${tool.name}: ${first.join('; ')}${more}`, { issues: shown });
}
