import type * as z from 'zod';
import { ColibriError } from '../errors.ts';
import { describeIssue } from '../text/issue-text.ts';
import type { Outcome, Tool } from '../tool.ts';
import type { ActiveCall, ValidCall } from './call.ts';
import { type InputIssue, listIssues, MAX_ISSUES } from './input-issues.ts';
import { failed } from './outcome.ts';
import type { RecordedArguments } from './record-arguments.ts';

/** Stage 2. Parses the raw input with the tool's own schema; a rejection lists every problem. */
export function validate(active: ActiveCall, tool: Tool, defect: RecordedArguments['defect']): Outcome<ValidCall> {
  try {
    return { ok: true, data: { tool, input: parse(tool, active.call.rawInput, defect) } };
  } catch (thrown) {
    return failed(thrown, active.event.correlationId);
  }
}

/** Zod copies it and sets `async`. With that key here, V8 gives the copy the same shape. */
const PARSING = { error: describeIssue, async: false } satisfies z.core.ParseContextInternal;

function parse(tool: Tool, raw: unknown, defect: RecordedArguments['defect']): unknown {
  if (defect !== undefined) throw invalid(tool, [{ path: defect.path, message: defect.reason }]);
  const schema = tool.inputSchema as unknown as z.ZodObject;
  const parsed = schema.safeParse(tool.normalize === undefined ? raw : tool.normalize(raw), PARSING);
  if (parsed.success) return parsed.data;
  throw invalid(tool, listIssues(parsed.error.issues, { tool, raw, shape: schema.shape }));
}

function invalid(tool: Tool, issues: readonly InputIssue[]): ColibriError {
  const shown = issues.slice(0, MAX_ISSUES);
  const first = shown
    .slice(0, 3)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = issues.length > 3 ? ` (and ${issues.length - 3} more)` : '';
  return new ColibriError('INVALID_PARAMS', `${tool.name}: ${first.join('; ')}${more}`, { issues: shown });
}
