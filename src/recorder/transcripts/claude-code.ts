import { asObject, member, type Payload, text, time } from '../clients/fields.ts';
import { count } from './counts.ts';
import type { Fact, LineReader, TokenCounts, TranscriptFormat } from './transcript.ts';

/**
 * Claude Code 2.1.325, seen: one line for each block of a message, each with the usage of the whole message. A fork
 * begins with a copy of the other session under its own id, whose lines are older than the first line of the file.
 */
export const claudeCode: TranscriptFormat = {
  marks: ['"tool_use"', '"tool_result"', '"usage"', '"queue-operation"'],
  hasCallIds: true,
  isBuffered: false,
  open: () => {
    let begin: number | null = null;
    return (line) => {
      const at = time(line, 'timestamp');
      begin ??= at;
      const isCopied = at !== null && begin !== null && at < begin;
      return isCopied ? [] : readLine(line);
    };
  },
};

const readLine: LineReader = (line) => {
  const message = asObject(member(line, 'message'));
  if (message === undefined) return [];
  const type = text(line, 'type');
  if (type === 'assistant') return readResponse(message);
  return type === 'user' ? readResults(line, message) : [];
};

/** An answer that Claude Code wrote itself, for instance about a lost connection. */
const SYNTHETIC = '<synthetic>';

function readResponse(message: Payload): Fact[] {
  const response = text(message, 'id') ?? '';
  const facts: Fact[] = blocksOf(message, 'tool_use').flatMap((block) => {
    const [id, tool] = [text(block, 'id'), text(block, 'name')];
    return id === null || tool === null ? [] : [{ kind: 'call', id, tool, response }];
  });
  const model = text(message, 'model');
  const usage = asObject(member(message, 'usage'));
  if (response !== '' && model !== null && model !== SYNTHETIC && usage !== undefined)
    facts.push({ kind: 'usage', response, model, tokens: readTokens(usage) });
  return facts;
}

function readTokens(usage: Payload): TokenCounts {
  const written = count(usage, 'cache_creation_input_tokens');
  const forAnHour = Math.min(count(member(usage, 'cache_creation'), 'ephemeral_1h_input_tokens'), written);
  return {
    input_tokens: count(usage, 'input_tokens'),
    output_tokens: count(usage, 'output_tokens'),
    cache_read_tokens: count(usage, 'cache_read_input_tokens'),
    cache_write_tokens: written - forAnHour,
    cache_write_1h_tokens: forAnHour,
  };
}

/** No hook runs for a call that the user denies, that names no tool, or whose input Claude Code rejects. */
function readResults(line: Payload, message: Payload): Fact[] {
  const isDenied = text(line, 'toolDenialKind') !== null || member(line, 'toolUseResult') === 'User rejected tool use';
  return blocksOf(message, 'tool_result').flatMap((block) => {
    const id = text(block, 'tool_use_id');
    const isRejected = member(block, 'is_error') === true && text(block, 'content')?.startsWith('<tool_use_error>');
    return id === null ? [] : [{ kind: 'result', id, isRefused: isDenied || isRejected === true }];
  });
}

function blocksOf(message: Payload, type: string): Payload[] {
  const content = member(message, 'content');
  const blocks = Array.isArray(content) ? content.map(asObject) : [];
  return blocks.filter((block) => block !== undefined).filter((block) => text(block, 'type') === type);
}
