import type { ObservedEvent } from '../event.ts';
import { readClaudeShape } from './claude-shape.ts';
import { splitMcpName } from './colibri-call.ts';
import { member, type Payload, text } from './fields.ts';
import { observe } from './observe.ts';

/** Codex 0.166.0, seen: a failed MCP call has no after-event; a failed command has one, without an exit code. */
export function fromCodex(payload: Payload, hint?: string): ObservedEvent {
  const report = readClaudeShape(payload, hint);
  const mcp = splitMcpName(report.tool ?? null);
  const hasFailed = member(report.output, 'isError') === true;
  return observe({ ...report, client: 'codex', mcp, hasFailed, tellsFailures: mcp !== null });
}

/** Its fields are Claude Code's. It adds the turn, and its transcripts have names of their own. */
export function isCodex(payload: Payload): boolean {
  if (text(payload, 'hook_event_name') === null) return false;
  return text(payload, 'turn_id') !== null || /[/\\]rollout-[^/\\]+$/.test(text(payload, 'transcript_path') ?? '');
}
