import { member, type Payload, text } from '../clients/fields.ts';
import { count, withoutCached } from './counts.ts';
import type { Fact, TokenCounts, TranscriptFormat } from './transcript.ts';

const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'local_shell_call']);
const RESULTS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output']);

/**
 * Codex 0.166.0, seen: a rollout file. The total of a session follows each response, sometimes twice; the difference is
 * what the response used. Cached tokens are part of the input, reasoning is part of the output.
 */
export const codex: TranscriptFormat = {
  marks: ['_call"', '_call_output"', '"token_count"', '"turn_context"'],
  hasCallIds: true,
  isBuffered: false,
  open: () => {
    let model = 'unknown';
    let responses = 0;
    let before = NOTHING;
    return (line) => {
      const payload = member(line, 'payload');
      const type = text(payload, 'type');
      if (text(line, 'type') === 'turn_context') model = text(payload, 'model') ?? model;
      if (text(line, 'type') === 'response_item') return readItem(payload, type ?? '', String(responses));
      const total = type === 'token_count' ? member(member(payload, 'info'), 'total_token_usage') : undefined;
      if (total === undefined) return [];
      const after = readTotal(total);
      const tokens = difference(before, after);
      before = after;
      if (Object.values(tokens).every((number) => number === 0)) return [];
      responses += 1;
      return [{ kind: 'usage', response: String(responses - 1), model, tokens }];
    };
  },
};

function readItem(item: unknown, type: string, response: string): Fact[] {
  const id = text(item, 'call_id');
  if (id === null) return [];
  if (CALLS.has(type)) return [{ kind: 'call', id, tool: text(item, 'name') ?? type, response }];
  if (!RESULTS.has(type)) return [];
  // The model named a tool that there is not.
  const isRefused = text(item, 'output')?.startsWith('unsupported call: ') === true;
  return [{ kind: 'result', id, isRefused }];
}

const NOTHING: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
};

function readTotal(total: unknown): TokenCounts {
  const usage = total as Payload;
  return withoutCached(count(usage, 'input_tokens'), {
    output_tokens: count(usage, 'output_tokens'),
    cache_read_tokens: count(usage, 'cached_input_tokens'),
    cache_write_tokens: count(usage, 'cache_write_input_tokens'),
    cache_write_1h_tokens: 0,
  });
}

/** A total that shrinks is that of a history that was replaced: what was used before stays used. */
function difference(before: TokenCounts, after: TokenCounts): TokenCounts {
  const fields = Object.entries(after).map(([name, tokens]) => [
    name,
    Math.max(0, tokens - before[name as keyof TokenCounts]),
  ]);
  return Object.fromEntries(fields) as TokenCounts;
}
