import type { ObservedEvent, Phase } from '../event.ts';
import { phaseOf } from './claude-shape.ts';
import { splitJoinedName } from './colibri-call.ts';
import { asObject, integer, member, type Payload, text, time } from './fields.ts';
import { observe } from './observe.ts';

const PHASES: Readonly<Record<string, Phase>> = {
  'tool.execute.before': 'before',
  'tool.execute.after': 'after',
  'session.created': 'session_start',
  'session.idle': 'stop',
  'session.deleted': 'session_end',
};

/** opencode 1.18.33, seen through plugins/opencode.js: a failed MCP call has no after-event. */
export function fromOpencode(payload: Payload, hint?: string): ObservedEvent {
  const hook = text(payload, 'hook') ?? hint ?? 'unknown';
  const input = member(payload, 'input');
  const output = member(payload, 'output');
  const properties = member(input, 'properties');
  const event = hook === 'event' ? (text(input, 'type') ?? 'unknown') : hook;
  const phase = phaseOf(event, PHASES);
  const tool = text(input, 'tool');
  const mcp = splitJoinedName(tool, '_');
  return observe({
    client: 'opencode',
    clientVersion: text(member(properties, 'info'), 'version'),
    event,
    phase,
    session: text(input, 'sessionID') ?? text(properties, 'sessionID'),
    tool,
    mcp,
    callId: text(input, 'callID') ?? text(input, 'id'),
    timestamp: time(payload, 'timestamp'),
    input: member(input, 'args') ?? member(output, 'args'),
    output: phase === 'after' ? output : undefined,
    exitCode: integer(member(output, 'metadata'), 'exit'),
    hasFailed: member(output, 'isError') === true,
    folder: text(member(properties, 'info'), 'directory') ?? text(payload, 'folder'),
  });
}

export function isOpencode(payload: Payload): boolean {
  return text(payload, 'hook') !== null && asObject(member(payload, 'input')) !== undefined;
}
