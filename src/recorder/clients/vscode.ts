import type { ObservedEvent } from '../event.ts';
import { readClaudeShape } from './claude-shape.ts';
import { splitJoinedName, splitMcpName } from './colibri-call.ts';
import { type Payload, text, time } from './fields.ts';
import { type McpTool, observe } from './observe.ts';

/**
 * VS Code hooks (Preview), from docs/agent-customization/hooks.md of microsoft/vscode-docs as of 2026-06-03. It also
 * runs Claude Code's hooks with the same session and call ids, so both reports have one key.
 */
export function fromVsCode(payload: Payload, hint?: string): ObservedEvent {
  const report = readClaudeShape(payload, hint);
  return observe({ ...report, client: 'vscode', mcp: findMcp(report.tool ?? null) });
}

/** Claude Code's fields with a time stamp; the documentation writes two of them in camelCase. */
export function isVsCode(payload: Payload): boolean {
  if (text(payload, 'hookEventName') !== null) return true;
  const isClaudeShaped = text(payload, 'session_id', 'sessionId') !== null && text(payload, 'hook_event_name') !== null;
  return isClaudeShaped && time(payload, 'timestamp') !== null;
}

function findMcp(tool: string | null): McpTool | null {
  return splitMcpName(tool) ?? splitJoinedName(tool, '_');
}
