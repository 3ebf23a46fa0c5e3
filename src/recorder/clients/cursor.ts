import type { Action, ObservedEvent, Phase } from '../event.ts';
import { eventName, phaseOf } from './claude-shape.ts';
import { integer, member, type Payload, parsed, text } from './fields.ts';
import { type McpTool, observe } from './observe.ts';

const PHASES: Readonly<Record<string, Phase>> = {
  preToolUse: 'before',
  beforeShellExecution: 'before',
  beforeMCPExecution: 'before',
  beforeReadFile: 'before',
  postToolUse: 'after',
  afterShellExecution: 'after',
  afterMCPExecution: 'after',
  afterFileEdit: 'after',
  postToolUseFailure: 'failed',
  sessionStart: 'session_start',
  stop: 'stop',
  subagentStop: 'subagent_stop',
  sessionEnd: 'session_end',
};

/** Events of one kind of tool, which carry no name of it. */
const TOOLS: Readonly<Record<string, readonly [tool: string, action: Action]>> = {
  ShellExecution: ['Shell', 'shell'],
  FileEdit: ['Edit', 'edit'],
  ReadFile: ['Read', 'read'],
};

/**
 * Cursor 2.0.77, from the types of cursor-hooks 1.1.6 (npm) for cursor.com/docs/agent/hooks: no exit code of a command.
 */
export function fromCursor(payload: Payload, hint?: string): ObservedEvent {
  const event = eventName(payload, hint);
  const kind = event.replace(/^(?:before|after)/, '');
  const [tool, action] = (Object.hasOwn(TOOLS, kind) ? TOOLS[kind] : undefined) ?? [text(payload, 'tool_name')];
  const output = parsed(member(payload, 'tool_output', 'result_json', 'output', 'error_message'));
  return observe({
    client: 'cursor',
    clientVersion: text(payload, 'cursor_version'),
    event,
    phase: phaseOf(event, PHASES),
    session: text(payload, 'conversation_id', 'session_id'),
    agent: text(payload, 'subagent_id'),
    model: text(payload, 'model'),
    tool,
    ...(action === undefined ? {} : { action }),
    mcp: findMcp(event, tool),
    callId: text(payload, 'tool_use_id'),
    durationMs: integer(payload, 'duration', 'duration_ms'),
    input: action === undefined ? parsed(member(payload, 'tool_input', 'prompt')) : inputOf(payload),
    output,
    exitCode: integer(output, 'exitCode', 'exit_code'),
    transcriptPath: text(payload, 'agent_transcript_path', 'transcript_path'),
    folder: text(payload, 'cwd') ?? firstText(member(payload, 'workspace_roots')),
  });
}

export function isCursor(payload: Payload): boolean {
  const isNamed = text(payload, 'cursor_version') !== null || text(payload, 'conversation_id') !== null;
  return isNamed && text(payload, 'hook_event_name') !== null;
}

function inputOf(payload: Payload): Payload {
  const names = ['command', 'cwd', 'file_path', 'edits', 'content'];
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(payload, name) ? [[name, payload[name]]] : [])));
}

/** Cursor names no server. */
function findMcp(event: string, tool: string | null): McpTool | null {
  if (tool === null) return null;
  if (event.endsWith('MCPExecution')) return { server: null, tool };
  return tool.startsWith('MCP:') ? { server: null, tool: tool.slice('MCP:'.length).trim() } : null;
}

function firstText(values: unknown): string | null {
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  return typeof first === 'string' ? first : null;
}
