import type { ObservedEvent, Phase } from '../event.ts';
import { phaseOf } from './claude-shape.ts';
import { splitJoinedName } from './colibri-call.ts';
import { asObject, integer, member, type Payload, text, time } from './fields.ts';
import { observe } from './observe.ts';

const PHASES: Readonly<Record<string, Phase>> = {
  'tool.execute.before': 'before',
  'tool.execute.after': 'after',
  'message.part.updated': 'failed',
  'session.created': 'session_start',
  'session.idle': 'stop',
  'session.deleted': 'session_end',
};

/** opencode 1.18.33, seen through plugins/opencode.js: a failed call has no after-event, but a part of a message. */
export function fromOpencode(payload: Payload, hint?: string): ObservedEvent {
  const hook = text(payload, 'hook') ?? hint ?? 'unknown';
  const input = member(payload, 'input');
  const output = member(payload, 'output');
  const properties = member(input, 'properties');
  const event = hook === 'event' ? (text(input, 'type') ?? 'unknown') : hook;
  const failed = findFailedCall(properties);
  const phase = event === 'message.part.updated' && failed === undefined ? 'other' : phaseOf(event, PHASES);
  const call = failed ?? input;
  const state = member(failed, 'state');
  const tool = text(call, 'tool');
  const mcp = splitJoinedName(tool, '_');
  return observe({
    client: 'opencode',
    clientVersion: text(member(properties, 'info'), 'version'),
    event,
    phase,
    session: text(input, 'sessionID') ?? text(properties, 'sessionID'),
    tool,
    mcp,
    callId: text(call, 'callID') ?? text(input, 'id'),
    timestamp: time(payload, 'timestamp'),
    durationMs: findDuration(member(state, 'time')),
    input: member(input, 'args') ?? member(output, 'args') ?? member(state, 'input'),
    output: phase === 'after' ? output : member(state, 'error'),
    exitCode: integer(member(output, 'metadata'), 'exit'),
    hasFailed: member(output, 'isError') === true,
    folder: text(member(properties, 'info'), 'directory') ?? text(payload, 'folder'),
  });
}

function findFailedCall(properties: unknown): Payload | undefined {
  const part = asObject(member(properties, 'part'));
  const isFailed = text(part, 'type') === 'tool' && text(member(part, 'state'), 'status') === 'error';
  return isFailed ? part : undefined;
}

function findDuration(time: unknown): number | null {
  const [start, end] = [integer(time, 'start'), integer(time, 'end')];
  return start === null || end === null ? null : end - start;
}

export function isOpencode(payload: Payload): boolean {
  return text(payload, 'hook') !== null && asObject(member(payload, 'input')) !== undefined;
}
