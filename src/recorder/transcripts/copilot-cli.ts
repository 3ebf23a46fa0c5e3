import { asObject, member, parsed, text } from '../clients/fields.ts';
import { count, withoutCached } from './counts.ts';
import type { Fact, TranscriptFormat } from './transcript.ts';

/**
 * Copilot CLI 1.0.102, seen: events.jsonl of a session. What a call uses is an event of its own, before the message
 * that asks for the calls. Cached tokens are part of the input.
 */
export const copilotCli: TranscriptFormat = {
  marks: ['"assistant.message"', '"tool.execution_', '"session.usage_record"'],
  hasCallIds: false,
  isBuffered: true,
  open: () => (line) => {
    const data = member(line, 'data');
    const type = text(line, 'type');
    if (type === 'assistant.message') return readMessage(data);
    if (type === 'tool.execution_start') return readCall(data, 'toolName', '');
    if (type === 'session.usage_record') return readUsage(member(data, 'usage'));
    const id = type === 'tool.execution_complete' ? text(data, 'toolCallId') : null;
    return id === null ? [] : [{ kind: 'result', id, isRefused: false }];
  },
};

function readMessage(data: unknown): Fact[] {
  const requests = member(data, 'toolRequests');
  const response = text(data, 'apiCallId') ?? '';
  return Array.isArray(requests) ? requests.flatMap((request) => readCall(request, 'name', response)) : [];
}

function readCall(call: unknown, name: string, response: string): Fact[] {
  const [id, tool] = [text(call, 'toolCallId'), text(call, name)];
  const input = parsed(member(call, 'arguments'));
  return id === null || tool === null ? [] : [{ kind: 'call', id, tool, input, response }];
}

function readUsage(value: unknown): Fact[] {
  const usage = asObject(value);
  const [response, model] = [text(usage, 'apiCallId'), text(usage, 'model')];
  if (usage === undefined || response === null || model === null) return [];
  const tokens = withoutCached(count(usage, 'inputTokens'), {
    output_tokens: count(usage, 'outputTokens'),
    cache_read_tokens: count(usage, 'cacheReadTokens'),
    cache_write_tokens: count(usage, 'cacheWriteTokens'),
    cache_write_1h_tokens: 0,
  });
  return [{ kind: 'usage', response, model, tokens }];
}
