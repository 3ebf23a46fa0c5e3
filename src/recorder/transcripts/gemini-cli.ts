import { asObject, member, type Payload, text } from '../clients/fields.ts';
import { count, withoutCached } from './counts.ts';
import type { Fact, TokenCounts, TranscriptFormat } from './transcript.ts';

/**
 * Gemini CLI 0.61.0, seen: a chat file. A message is written again when its calls have ended. Cached tokens are part of
 * the input, thoughts are not part of the output.
 */
export const geminiCli: TranscriptFormat = {
  marks: ['"gemini"'],
  hasCallIds: false,
  isBuffered: false,
  open: () => (line) => {
    const replaced = member(member(line, '$set'), 'messages');
    const messages = Array.isArray(replaced) ? replaced : [line];
    return messages.flatMap((message) => (text(message, 'type') === 'gemini' ? readMessage(message as Payload) : []));
  },
};

function readMessage(message: Payload): Fact[] {
  const response = text(message, 'id');
  if (response === null) return [];
  const calls = member(message, 'toolCalls');
  const facts: Fact[] = Array.isArray(calls) ? calls.flatMap((call) => readCall(call, response)) : [];
  const model = text(message, 'model');
  const tokens = asObject(member(message, 'tokens'));
  if (model !== null && tokens !== undefined)
    facts.push({ kind: 'usage', response, model, tokens: readTokens(tokens) });
  return facts;
}

/** States of a call that has ended. */
const ENDED: ReadonlySet<string> = new Set(['success', 'error', 'cancelled']);

function readCall(call: unknown, response: string): Fact[] {
  const [id, tool, status] = [text(call, 'id'), text(call, 'name'), text(call, 'status')];
  if (id === null || tool === null) return [];
  const facts: Fact[] = [{ kind: 'call', id, tool, input: member(call, 'args'), response }];
  // The user declined, or the model named a tool that there is not.
  const isUnknown = status === 'error' && text(call, 'resultDisplay')?.startsWith(`Tool "${tool}" not found`) === true;
  if (ENDED.has(status ?? '')) facts.push({ kind: 'result', id, isRefused: status === 'cancelled' || isUnknown });
  return facts;
}

function readTokens(tokens: Payload): TokenCounts {
  return withoutCached(count(tokens, 'input'), {
    output_tokens: count(tokens, 'output') + count(tokens, 'thoughts'),
    cache_read_tokens: count(tokens, 'cached'),
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
  });
}
