import type { ObservedEvent, Phase } from '../event.ts';
import { phaseOf } from './claude-shape.ts';
import { member, type Payload, text, time } from './fields.ts';
import { observe } from './observe.ts';

const PHASES: Readonly<Record<string, Phase>> = {
  pre_run_command: 'before',
  pre_write_code: 'before',
  pre_read_code: 'before',
  pre_mcp_tool_use: 'before',
  post_run_command: 'after',
  post_write_code: 'after',
  post_read_code: 'after',
  post_mcp_tool_use: 'after',
  post_cascade_response: 'stop',
};

/** Windsurf Cascade hooks, from docs.windsurf.com/windsurf/cascade/hooks (2026): no call id, output or exit code. */
export function fromWindsurf(payload: Payload, hint?: string): ObservedEvent {
  const event = text(payload, 'agent_action_name') ?? hint ?? 'unknown';
  const phase = phaseOf(event, PHASES);
  const info = member(payload, 'tool_info');
  const mcpTool = text(info, 'mcp_tool_name');
  return observe({
    client: 'windsurf',
    event,
    phase,
    session: text(payload, 'trajectory_id'),
    model: text(payload, 'model_name', 'model'),
    tool: mcpTool ?? (phase === 'before' || phase === 'after' ? event.replace(/^(?:pre|post)_/, '') : null),
    mcp: mcpTool === null ? null : { server: text(info, 'mcp_server_name'), tool: mcpTool },
    timestamp: time(payload, 'timestamp'),
    input: mcpTool === null ? info : member(info, 'mcp_tool_arguments'),
    output: member(info, 'mcp_result'),
    folder: text(info, 'cwd'),
  });
}

export function isWindsurf(payload: Payload): boolean {
  return text(payload, 'agent_action_name') !== null;
}
