import type { ObservedEvent } from '../event.ts';
import { readClaudeShape } from './claude-shape.ts';
import { splitMcpName } from './colibri-call.ts';
import { member, type Payload, text } from './fields.ts';
import { observe } from './observe.ts';

/** Claude Code 2.1.325, seen: a command that fails is a PostToolUseFailure whose error begins with its exit code. */
export function fromClaudeCode(payload: Payload, hint?: string): ObservedEvent {
  const report = readClaudeShape(payload, hint);
  const mcp = splitMcpName(report.tool ?? null);
  return observe({ ...report, client: 'claude-code', mcp, exitCode: findExitCode(report.phase, report.output) });
}

export function isClaudeCode(payload: Payload): boolean {
  return text(payload, 'session_id') !== null && text(payload, 'hook_event_name') !== null;
}

function findExitCode(phase: string, output: unknown): number | null {
  if (phase === 'failed') {
    const [, code] = /^Exit code (\d{1,10})(?:\n|$)/.exec(typeof output === 'string' ? output : '') ?? [];
    return code === undefined ? null : Number(code);
  }
  if (phase !== 'after' || typeof member(output, 'stdout') !== 'string') return null;
  // Claude Code also counts some other codes as success (grep finds nothing), and reports a background command early.
  const isUnknown = member(output, 'interrupted') !== false || text(output, 'backgroundTaskId') !== null;
  return isUnknown || text(output, 'returnCodeInterpretation') !== null ? null : 0;
}
