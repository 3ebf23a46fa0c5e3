import { isInitializeRequest, isJSONRPCRequest, isJSONRPCResultResponse } from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { always } from '../../test/support/properties.ts';
import { isPlainInitialize, isPlainRequest, isPlainResult } from './plain-messages.ts';

const request = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'server_ping', arguments: {} } };
const handshake = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a client', version: '1', title: 'A' },
  },
};
const result = { jsonrpc: '2.0', id: 'a', result: { content: [], structuredContent: { ok: true } } };

describe('plain JSON-RPC messages', () => {
  it.each([
    request,
    { jsonrpc: '2.0', id: 'x', method: 'ping' },
    { ...request, params: { ...request.params, _meta: { progressToken: 3 } } },
    { ...request, params: { _meta: { 'vendor/key': { deep: [1] } } } },
  ])('need no schema for a request: %j', (message) => {
    expect([isPlainRequest(message), isJSONRPCRequest(message)]).toEqual([true, true]);
  });

  it.each([result, { ...result, result: { _meta: { 'colibri/receipt': { index: 1 } } } }, { ...result, result: {} }])(
    'need no schema for an answer: %j',
    (message) => {
      expect([isPlainResult(message), isJSONRPCResultResponse(message)]).toEqual([true, true]);
    },
  );

  it.each([
    {},
    { roots: { listChanged: true }, sampling: {} },
    { elicitation: {}, roots: {} },
    { elicitation: { form: {} }, sampling: { tools: {} }, roots: {} },
  ])('need no schema for a handshake with the capabilities %j', (capabilities) => {
    const message = { ...handshake, params: { ...handshake.params, capabilities } };
    expect([isPlainInitialize(message), isInitializeRequest(message)]).toEqual([true, true]);
  });

  it.each([
    { capabilities: { roots: { listChanged: 'yes' } } },
    { capabilities: { experimental: {} } },
    { capabilities: [] },
    { protocolVersion: 3 },
    { clientInfo: { name: 'a client' } },
    { clientInfo: { name: 'a client', version: '1', icons: [] } },
    { _meta: { progressToken: 1.5 } },
  ])('ask the schema about a handshake with %j', (change) => {
    expect(isPlainInitialize({ ...handshake, params: { ...handshake.params, ...change } })).toBe(false);
  });

  it('leave whatever the schemas refuse to the schemas', () => {
    always(
      fc.property(mutated, (message) => {
        if (isPlainInitialize(message)) expect(isInitializeRequest(message)).toBe(true);
        if (isPlainRequest(message)) expect(isJSONRPCRequest(message)).toBe(true);
        if (isPlainResult(message)) expect(isJSONRPCResultResponse(message)).toBe(true);
      }),
      5_000,
    );
  });
});

const odd = fc.oneof(
  fc.constantFrom(undefined, null, true, 0, -1, 1.5, 2 ** 53, Number.NaN, '', '2.0', '1.0', 'ping', [], {}),
  fc.constantFrom(new Date(0), new Map(), Object.create(null), Object.create({ method: 'ping' }), () => undefined),
  fc.constantFrom(
    { _meta: null },
    { _meta: [] },
    { _meta: { progressToken: 1.5 } },
    { _meta: { progressToken: {} } },
    { _meta: { progressToken: 'p' } },
    { _meta: { 'io.modelcontextprotocol/related-task': 5 } },
    { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } },
    { _meta: { 'io.modelcontextprotocol/serverInfo': 5 } },
    JSON.parse('{"__proto__": {"_meta": 1}}'),
  ),
  fc.jsonValue(),
);

/** A message with up to three fields replaced, removed or added, or any value at all. */
const mutated = fc.oneof(
  odd,
  fc
    .tuple(
      fc.constantFrom<object>(request, result, handshake),
      fc.array(fc.tuple(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'extra'), odd), {
        maxLength: 3,
      }),
    )
    .map(([base, changes]) => ({ ...base, ...Object.fromEntries(changes) })),
);
