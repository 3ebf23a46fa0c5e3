import type { ObservedEvent } from '../event.ts';
import { readClaudeShape } from './claude-shape.ts';
import { splitMcpName } from './colibri-call.ts';
import { member, type Payload, text } from './fields.ts';
import { observe } from './observe.ts';

/** Codex 0.166.0, seen: a failed MCP call or patch has no after-event; a command has one, without an exit code. */
export function fromCodex(payload: Payload, hint?: string): ObservedEvent {
  const report = readClaudeShape(payload, hint);
  const mcp = splitMcpName(report.tool ?? null);
  const patchCode = report.tool === 'apply_patch' ? findPatchCode(report.output) : undefined;
  const hasFailed = member(report.output, 'isError') === true || (patchCode ?? 0) !== 0;
  const tellsFailures = mcp !== null || patchCode !== undefined;
  return observe({ ...report, client: 'codex', mcp, hasFailed, tellsFailures });
}

function findPatchCode(output: unknown): number | undefined {
  const [, code] = /^Exit code: (\d{1,10})\nWall time: /.exec(typeof output === 'string' ? output : '') ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Its fields are Claude Code's. It adds the turn, and its transcripts have names of their own. */
export function isCodex(payload: Payload): boolean {
  if (text(payload, 'hook_event_name') === null) return false;
  return text(payload, 'turn_id') !== null || /[/\\]rollout-[^/\\]+$/.test(text(payload, 'transcript_path') ?? '');
}
