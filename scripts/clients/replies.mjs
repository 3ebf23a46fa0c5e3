// What the scripted model reads from a request and how it answers, for each of the four wire formats.

/**
 * Chosen by the path of the request. `read` returns the names of the offered tools and the number of finished calls.
 */
export const FORMATS = [
  { matches: /\/v1\/messages$/, read: readMessages, reply: replyToMessages },
  { matches: /\/responses$/, read: readResponses, reply: replyToResponses },
  { matches: /\/chat\/completions$/, read: readChat, reply: replyToChat },
  { matches: /:(?:streamG|g)enerateContent$/, read: readGemini, reply: replyToGemini },
];

const CLOSING_WORDS = 'All done.';

function readMessages({ tools = [], messages = [] }) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return { names: tools.map(({ name }) => name), finished: blocks.filter(({ type }) => type === 'tool_result').length };
}

function replyToMessages(call, { request, serial }) {
  const block = call
    ? { type: 'tool_use', id: `toolu_${serial}`, name: call.name, input: call.input }
    : { type: 'text', text: CLOSING_WORDS };
  const reason = call ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${serial}`, type: 'message', role: 'assistant', model: request.model, usage };
  if (!request.stream) return json({ ...message, content: [block], stop_reason: reason, stop_sequence: null });
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: CLOSING_WORDS };
  return named([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { ...block, text: '' } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]);
}

function readResponses({ tools = [], input = [] }) {
  const items = Array.isArray(input) ? input : [];
  return {
    names: tools.flatMap(({ name, type, tools: inner = [] }) => [name ?? type, ...inner.map((tool) => tool.name)]),
    finished: items.filter(({ type }) => type?.endsWith('_call_output')).length,
  };
}

function replyToResponses(call, { serial }) {
  const id = `resp_${serial}`;
  const message = { type: 'message', id: `m_${serial}`, role: 'assistant' };
  const item = call
    ? { id: `item_${serial}`, call_id: `call_${serial}`, status: 'completed', ...responsesCall(call) }
    : { ...message, content: [{ type: 'output_text', text: CLOSING_WORDS }] };
  const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null };
  return named([
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, output: [item], usage: { ...usage, total_tokens: 15 } } },
  ]);
}

/** A tool without a JSON schema takes a text. */
function responsesCall({ name, namespace, input }) {
  if (typeof input === 'string') return { type: 'custom_tool_call', name, input };
  return { type: 'function_call', name, ...(namespace && { namespace }), arguments: JSON.stringify(input) };
}

function readChat({ tools = [], messages = [] }) {
  return {
    names: tools.map((tool) => tool.function?.name),
    finished: messages.filter(({ role }) => role === 'tool').length,
  };
}

function replyToChat(call, { request, serial }) {
  const calls = call && [
    {
      index: 0,
      id: `call_${serial}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    },
  ];
  const message = { role: 'assistant', content: call ? null : CLOSING_WORDS, ...(calls && { tool_calls: calls }) };
  const reason = call ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const base = { id: `chat_${serial}`, created: 1, model: request.model };
  if (!request.stream)
    return json({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  const chunk = (fields) => ({ ...base, object: 'chat.completion.chunk', ...fields });
  return unnamed([
    chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }], usage }),
    '[DONE]',
  ]);
}

function readGemini({ tools = [], contents = [] }) {
  return {
    names: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    finished: contents.flatMap(({ parts = [] }) => parts).filter(({ functionResponse }) => functionResponse).length,
  };
}

function replyToGemini(call, { path, serial }) {
  const part = call
    ? { functionCall: { id: `call_${serial}`, name: call.name, args: call.input } }
    : { text: CLOSING_WORDS };
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'scripted',
  };
  return /:stream/.test(path) ? unnamed([answer]) : json(answer);
}

function json(value) {
  return { type: 'application/json', body: JSON.stringify(value) };
}

function named(events) {
  return eventStream(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`));
}

function unnamed(events) {
  return eventStream(events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}`));
}

function eventStream(events) {
  return { type: 'text/event-stream', body: events.map((event) => `${event}\n\n`).join('') };
}
