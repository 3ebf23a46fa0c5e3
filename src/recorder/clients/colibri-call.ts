import type { ColibriCall } from '../event.ts';
import { asObject, integer, member, type Payload, parsed, text } from './fields.ts';
import type { McpTool } from './observe.ts';

/** The tools of Colibri; their calls tell which task a session works on. */
export const TOOL_NAMES: ReadonlySet<string> = new Set([
  'task_create',
  'task_get',
  'task_update',
  'task_list',
  'task_next_actions',
  'audit_session_start',
  'thought_record',
  'thought_record_list',
  'audit_verify_chain',
  'merkle_finalize',
  'merkle_root',
  'skill_list',
  'server_ping',
  'server_health',
]);

/** Null unless the tool is one of Colibri's own. */
export function readColibriCall(
  mcp: McpTool | null,
  input: unknown,
  output: unknown,
  answer: string | undefined,
): ColibriCall | null {
  if (mcp === null || !TOOL_NAMES.has(mcp.tool)) return null;
  const data = asObject(member(readEnvelope(output, answer), 'data'));
  const [holder, updatedBy] = [text(data, 'holder'), text(data, 'updated_by')];
  // A user may give the server a name of its own. Under one that says nothing, the answer has to show whose it is.
  const isColibri = mcp.server === null || mcp.server.toLowerCase().includes('colibri');
  if (!isColibri && (updatedBy === null || !hasAnswered(data))) return null;
  return {
    tool: mcp.tool,
    task_id: text(input, 'task_id') ?? text(data, 'task_id'),
    status: text(data, 'status') ?? text(input, 'status'),
    claim: integer(data, 'claim') ?? integer(input, 'claim'),
    answered: text(data, 'status') !== null,
    ...(updatedBy !== null && { holds: holder === updatedBy }),
  };
}

/** Whether this is what `task_update` answers: who holds the task now, or that it was given up. */
function hasAnswered(data: Payload | undefined): boolean {
  const isHeld = integer(data, 'claim') !== null && text(data, 'holder') !== null;
  return isHeld || (text(data, 'previous_status') !== null && /^T-\d+$/.test(text(data, 'task_id') ?? ''));
}

/** Returns true if an MCP server reports that the call was refused; Colibri also reports it inside `data`. */
export function isRefused(output: unknown, answer: string | undefined): boolean {
  const envelope = readEnvelope(output, answer);
  const isError = [output, envelope].some((value) => member(value, 'isError') === true);
  return isError || [envelope, member(envelope, 'data')].some((value) => member(value, 'ok') === false);
}

/** What the tool answered, without what the client puts around it. */
function readEnvelope(output: unknown, answer: string | undefined): unknown {
  const structured = member(output, 'structuredContent');
  return structured ?? parsed(answer?.replaceAll(/<\/?untrusted_context>/g, '').trim());
}

/** Splits `mcp__server__tool`, which Claude Code and Codex use. */
export function splitMcpName(name: string | null): McpTool | null {
  const [, server = null, tool] = /^mcp__(.+?)__(.+)$/s.exec(name ?? '') ?? [];
  return tool === undefined ? null : { server, tool };
}

/** For clients that join both names by one character, which both names may contain: only Colibri's tools are found. */
export function splitJoinedName(name: string | null, separator: string): McpTool | null {
  for (const tool of TOOL_NAMES)
    if (name?.endsWith(`${separator}${tool}`) === true)
      return { server: name.slice(0, -tool.length - separator.length), tool };
  return null;
}
