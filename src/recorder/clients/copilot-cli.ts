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
  subagentStop: 'subagent_stop',
  sessionEnd: 'session_end',
};

/** Copilot CLI 1.0.102, seen: no event name, no call id, and "success" for a command whatever its exit code. */
export function fromCopilotCli(payload: Payload, hint?: string): ObservedEvent {
  const event = hint ?? guessEvent(payload);
  const phase = phaseOf(event, PHASES);
  const tool = text(payload, 'toolName');
  const result = member(payload, 'toolResult');
  const output = result ?? member(payload, 'error');
  return observe({
    client: 'copilot-cli',
    event,
    phase,
    session: text(payload, 'sessionId'),
    agent: text(payload, 'agentId', 'agentName'),
    tool,
    mcp: splitJoinedName(tool, '-'),
    timestamp: time(payload, 'timestamp'),
    durationMs: integer(payload, 'durationMs'),
    input: parsed(member(payload, 'toolArgs', 'prompt', 'initialPrompt')),
    output: phase === 'after' || phase === 'failed' ? output : undefined,
    exitCode: findExitCode(text(result, 'textResultForLlm') ?? ''),
    hasFailed: result !== undefined && text(result, 'resultType') !== 'success',
    transcriptPath: text(payload, 'transcriptPath'),
    folder: text(payload, 'cwd'),
  });
}

export function isCopilotCli(payload: Payload): boolean {
  const hasName = text(payload, 'hookEventName', 'hook_event_name') !== null;
  return !hasName && text(payload, 'sessionId') !== null && typeof member(payload, 'timestamp') === 'number';
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
