import type { ObservedEvent, Phase } from '../event.ts';
import { eventName, phaseOf, readClaudeShape } from './claude-shape.ts';
import { splitJoinedName } from './colibri-call.ts';
import { member, type Payload, text, time } from './fields.ts';
import { findText, type McpTool, observe } from './observe.ts';

/** BeforeAgent and AfterAgent enclose one turn. */
const PHASES: Readonly<Record<string, Phase>> = {
  BeforeTool: 'before',
  AfterTool: 'after',
  AfterAgent: 'stop',
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
};

/** Gemini CLI 0.61.0, seen: no call id; failures fire AfterTool too, and an exit code is a line after the output. */
export function fromGeminiCli(payload: Payload, hint?: string): ObservedEvent {
  const event = eventName(payload, hint);
  const phase = phaseOf(event, PHASES);
  const output = member(payload, 'tool_response');
  const hasFailed = member(output, 'error') !== undefined;
  return observe({
    ...readClaudeShape(payload, hint),
    client: 'gemini-cli',
    event,
    phase,
    mcp: findMcp(payload),
    output,
    hasFailed,
    exitCode: phase === 'after' && !hasFailed ? findExitCode(findText(output) ?? '') : null,
  });
}

const OWN_EVENTS = /^(?:(?:Before|After)(?:Tool|Agent|Model)|BeforeToolSelection|PreCompress|Notification)$/;

/** VS Code also has a time stamp, and calls a new session "new". */
export function isGeminiCli(payload: Payload): boolean {
  const event = text(payload, 'hook_event_name') ?? '';
  if (OWN_EVENTS.test(event)) return time(payload, 'timestamp') !== null;
  const isSession = event === 'SessionStart' || event === 'SessionEnd';
  return isSession && time(payload, 'timestamp') !== null && text(payload, 'source') !== 'new';
}

function findMcp(payload: Payload): McpTool | null {
  const context = member(payload, 'mcp_context');
  const tool = text(context, 'tool_name');
  if (tool !== null) return { server: text(context, 'server_name'), tool };
  const joined = splitJoinedName(text(payload, 'tool_name'), '_');
  return joined?.server?.startsWith('mcp_') === true ? joined : null;
}

const TRAILER = /^(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): (.*)$/;

/** From the end, because the output itself may contain such lines. A code of 0 is not written. */
function findExitCode(answer: string): number | null {
  const lines = answer
    .slice(-4096)
    .replace(/\n?<\/untrusted_context>\s*$/, '')
    .split('\n');
  let isComplete = false;
  while (TRAILER.test(lines.at(-1) ?? '')) {
    const line = lines.pop() as string;
    if (line.startsWith('Exit Code: ')) return /^Exit Code: -?\d{1,10}$/.test(line) ? Number(line.slice(11)) : null;
    if (/^(?:Signal|Error|Background PIDs): (?!\(none\))/.test(line)) return null;
    isComplete = true;
  }
  return isComplete ? 0 : null;
}
