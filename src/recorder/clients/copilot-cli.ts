import type { ObservedEvent, Phase } from '../event.ts';
import { phaseOf } from './claude-shape.ts';
import { splitJoinedName } from './colibri-call.ts';
import { integer, member, type Payload, parsed, text, time } from './fields.ts';
import { observe } from './observe.ts';

const PHASES: Readonly<Record<string, Phase>> = {
  preToolUse: 'before',
  postToolUse: 'after',
  postToolUseFailure: 'failed',
  sessionStart: 'session_start',
  agentStop: 'stop',
  stop: 'stop',
  subagentStop: 'subagent_stop',
  sessionEnd: 'session_end',
};

/**
 * Copilot CLI 1.0.102, seen: no event name, no call id, and "success" for a command whatever its exit code. It also
 * runs the hooks of Claude Code, with Claude Code's field names and at the same times, and renames its tools for them.
 */
export function fromCopilotCli(payload: Payload, hint?: string): ObservedEvent {
  const event = hint ?? text(payload, 'hook_event_name') ?? guessEvent(payload);
  const phase = phaseOf(`${event.charAt(0).toLowerCase()}${event.slice(1)}`, PHASES);
  const tool = text(payload, 'toolName', 'tool_name');
  const result = member(payload, 'toolResult', 'tool_result');
  const output = result ?? member(payload, 'error');
  return observe({
    client: 'copilot-cli',
    event,
    phase,
    session: text(payload, 'sessionId', 'session_id'),
    agent: text(payload, 'agentId', 'agentName', 'agent_id', 'agent_name'),
    tool,
    mcp: splitJoinedName(tool, '-'),
    timestamp: time(payload, 'timestamp'),
    durationMs: integer(payload, 'durationMs', 'duration_ms'),
    input: parsed(member(payload, 'toolArgs', 'tool_input', 'prompt', 'initialPrompt', 'initial_prompt')),
    output: phase === 'after' || phase === 'failed' ? output : undefined,
    exitCode: findExitCode(text(result, 'textResultForLlm', 'text_result_for_llm') ?? ''),
    hasFailed: result !== undefined && text(result, 'resultType', 'result_type') !== 'success',
    transcriptPath: text(payload, 'transcriptPath', 'transcript_path'),
    folder: text(payload, 'cwd'),
  });
}

export function isCopilotCli(payload: Payload): boolean {
  const hasName = text(payload, 'hookEventName', 'hook_event_name') !== null;
  return !hasName && text(payload, 'sessionId') !== null && typeof member(payload, 'timestamp') === 'number';
}

/** Its events with Claude Code's field names. Claude Code and Codex write no time. */
export function isCopilotCliAsClaudeCode(payload: Payload): boolean {
  const isClaudeShaped = text(payload, 'session_id') !== null && text(payload, 'hook_event_name') !== null;
  return isClaudeShaped && time(payload, 'timestamp') !== null && text(payload, 'tool_use_id') === null;
}

/** For a hook that was registered without --event. */
function guessEvent(payload: Payload): string {
  const has = (name: string) => member(payload, name) !== undefined;
  if (has('toolName')) return has('toolResult') ? 'postToolUse' : has('error') ? 'postToolUseFailure' : 'preToolUse';
  if (has('stopReason')) return has('agentName') ? 'subagentStop' : 'agentStop';
  if (has('reason')) return 'sessionEnd';
  if (has('source')) return 'sessionStart';
  return has('prompt') ? 'userPromptSubmitted' : 'unknown';
}

/** Only at the very end: the output itself may contain such a line. */
function findExitCode(answer: string): number | null {
  const [, code] = /<shellId: \S{1,64} completed with exit code (-?\d{1,10})>\s*$/.exec(answer.slice(-256)) ?? [];
  return code === undefined ? null : Number(code);
}
