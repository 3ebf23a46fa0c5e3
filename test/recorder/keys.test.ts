import { describe, expect } from 'vitest';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { toSpooled } from '../../src/recorder/spooled-event.ts';
import { promiseTest } from '../support/promise-test.ts';
import { hintOf, payloadsOf } from './expected-events.ts';

const OPTIONS = { at: new Date('2026-11-16T12:00:00.000Z'), salt: '0'.repeat(32), level: 'excerpts' } as const;

describe('keys', () => {
  const report = (changes: object) =>
    toSpooled(
      toEvent({
        timestamp: '2026-02-09T10:30:00.000Z',
        session_id: 'one',
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
        tool_use_id: 'call-1',
        ...changes,
      }),
      OPTIONS,
    ).key;

  promiseTest('recorder/one-key', 'VS Code and the hook of Claude Code that it also runs', () => {
    const camel = { session_id: undefined, sessionId: 'one', hook_event_name: undefined, hookEventName: 'PostToolUse' };
    const json = JSON.parse(JSON.stringify(camel)) as object;
    expect(report(json)).toBe(report({}));
    expect(report({ timestamp: undefined, duration_ms: 4, mcp_server: {} })).toBe(report({}));
  });

  promiseTest('recorder/one-key', 'Copilot CLI and the hooks of Claude Code that it also runs', () => {
    const [own, borrowed] = ['own', 'claude'].map((source) => {
      const file = `copilot-cli-1.0.102-${source}-hooks.jsonl`;
      return payloadsOf(file).map((payload) => toSpooled(toEvent(payload, hintOf(file)), OPTIONS).key);
    });
    expect(borrowed).toEqual(own);
  });

  promiseTest('recorder/one-key', 'two equal commands that end in the same millisecond, by what they printed', () => {
    const keys = ['<shellId: 1 completed with exit code 0>', '<shellId: 2 completed with exit code 0>'].map(
      (textResultForLlm) => {
        const toolResult = { resultType: 'success', textResultForLlm };
        const call = { sessionId: 's', timestamp: 1, toolName: 'bash', toolArgs: { command: 'npm test' }, toolResult };
        return toSpooled(toEvent(call), OPTIONS).key;
      },
    );
    expect(keys[0]).not.toBe(keys[1]);
  });

  promiseTest('recorder/one-key', 'two sub-agents that stop in the same millisecond', () => {
    const stop = {
      hook_event_name: 'SubagentStop',
      tool_name: undefined,
      tool_input: undefined,
      tool_use_id: undefined,
    };
    const keys = ['one', 'two', 'one'].map((agent_id) => report({ ...stop, agent_id }));
    expect(keys[0]).not.toBe(keys[1]);
    expect(keys[0]).toBe(keys[2]);
  });

  promiseTest('recorder/one-key', 'another session, call or phase is another key', () => {
    const others = [
      { session_id: 'two' },
      { tool_use_id: 'call-2' },
      { hook_event_name: 'PreToolUse' },
      { session_id: 'one\ncall-1' },
      { session_id: '\ud800' },
      { session_id: '\udfff' },
      { session_id: 'x'.repeat(300) },
      { session_id: `${'x'.repeat(299)}y` },
      { tool_use_id: `ghp_${'a'.repeat(36)}` },
      { tool_use_id: `ghp_${'b'.repeat(36)}` },
    ];
    const keys = [report({}), ...others.map(report)];
    expect(new Set(keys).size).toBe(keys.length);
  });

  promiseTest('recorder/one-key', 'without a call id, time, tool and input tell calls apart', () => {
    const without = { tool_use_id: undefined };
    const keys = [
      without,
      { ...without, timestamp: '2026-02-09T10:30:00.001Z' },
      { ...without, tool_name: 'Write' },
      { ...without, tool_input: { command: 'npm run build' } },
      { ...without, tool_input: { command: 'x'.repeat(5000) } },
      { ...without, tool_input: { command: 'x'.repeat(5001) } },
    ].map(report);
    expect(new Set(keys).size).toBe(keys.length);
    expect(report({ ...without, timestamp: Date.parse('2026-02-09T10:30:00.000Z') })).toBe(keys[0]);
  });
});
