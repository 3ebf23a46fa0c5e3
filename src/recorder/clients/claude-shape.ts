import type { Phase } from '../event.ts';
import { integer, member, type Payload, text, time } from './fields.ts';
import type { Report } from './observe.ts';

/** Events that Claude Code named and that Codex, Gemini CLI and VS Code took over. */
const PHASES: Readonly<Record<string, Phase>> = {
  PreToolUse: 'before',
  PostToolUse: 'after',
  PostToolUseFailure: 'failed',
  SessionStart: 'session_start',
  Stop: 'stop',
  // Codex, when its user ends a turn.
  Interrupt: 'stop',
  SubagentStop: 'subagent_stop',
  SessionEnd: 'session_end',
};

export function eventName(payload: Payload, hint: string | undefined): string {
  return text(payload, 'hook_event_name', 'hookEventName') ?? hint ?? 'unknown';
}

export function phaseOf(event: string, phases: Readonly<Record<string, Phase>>): Phase {
  return (Object.hasOwn(phases, event) ? phases[event] : undefined) ?? 'other';
}

/** The fields that these clients have in common, in snake_case and camelCase. */
export function readClaudeShape(payload: Payload, hint: string | undefined): Omit<Report, 'client'> {
  const event = eventName(payload, hint);
  const phase = phaseOf(event, PHASES);
  const output = phase === 'failed' ? 'error' : 'tool_response';
  return {
    event,
    phase,
    session: text(payload, 'session_id', 'sessionId'),
    agent: text(payload, 'agent_id'),
    model: text(payload, 'model'),
    tool: text(payload, 'tool_name'),
    callId: text(payload, 'tool_use_id'),
    timestamp: time(payload, 'timestamp'),
    durationMs: integer(payload, 'duration_ms'),
    input: member(payload, 'tool_input', 'prompt'),
    output: member(payload, output, 'tool_result', 'error'),
    transcriptPath: text(payload, 'agent_transcript_path', 'transcript_path'),
    folder: text(payload, 'cwd'),
  };
}
