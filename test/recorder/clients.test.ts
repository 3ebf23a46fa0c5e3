import { readdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import type { ObservedEvent } from '../../src/recorder/event.ts';
import { toSpooled } from '../../src/recorder/spooled-event.ts';
import { promiseTest } from '../support/promise-test.ts';
import { EXPECTED, hintOf, PAYLOADS, payloadsOf } from './expected-events.ts';

const OPTIONS = { at: new Date('2026-11-16T12:00:00.000Z'), salt: '0'.repeat(32), level: 'excerpts' } as const;

const summary = (event: ObservedEvent) =>
  [
    event.event,
    event.phase,
    event.tool,
    event.action,
    event.callId,
    event.outcome,
    event.exitCode,
    event.colibri?.task_id,
    event.colibri?.status,
  ]
    .map((field) => field ?? '-')
    .join(' ')
    .replace(/(?: -)+$/, '');

const content = (event: ObservedEvent) => JSON.parse(toSpooled(event, OPTIONS).content ?? '{}') as object;

describe('events that clients wrote, or that their documentation shows', () => {
  promiseTest('recorder/clients', 'every payload has an expectation', () => {
    expect(readdirSync(PAYLOADS).sort()).toEqual(Object.keys(EXPECTED));
  });

  promiseTest('recorder/clients', 'Interrupt of Codex ends a turn', () => {
    const stop = payloadsOf('codex-0.166.0.jsonl').find((payload) => payload['hook_event_name'] === 'Stop');
    const event = toEvent({ ...stop, hook_event_name: 'Interrupt' });
    expect([event.client, event.phase]).toEqual(['codex', 'stop']);
  });

  for (const [file, expected] of Object.entries(EXPECTED)) {
    promiseTest('recorder/clients', file, () => {
      const events = payloadsOf(file).map((payload) => toEvent(payload, hintOf(file)));
      expect(events.map(summary)).toEqual(expected);
      expect([...new Set(events.map(({ client }) => client))]).toEqual([file.replace(/-\d+\..*$/, '')]);
      expect(events.every(({ session }) => session.length >= 20)).toBe(true);
    });

    promiseTest('recorder/one-key', `each line of ${file} has a key of its own, and always the same`, () => {
      const keys = payloadsOf(file).map((payload, second) => {
        const at = new Date(OPTIONS.at.getTime() + second * 1000);
        const [key, again] = [toEvent(payload, hintOf(file)), toEvent(payload, hintOf(file))].map(
          (event) => toSpooled(event, { ...OPTIONS, at }).key,
        );
        expect(again).toBe(key);
        return key;
      });
      expect(new Set(keys).size).toBe(keys.length);
    });
  }

  promiseTest('recorder/clients', 'a command, its exit code and the start of its output can be read', () => {
    const claude = payloadsOf('claude-code-2.1.325.jsonl');
    const failed = claude.find(({ error }) => typeof error === 'string' && error.startsWith('Exit'));
    expect(content(toEvent(failed))).toEqual({
      command: 'echo hello && exit 3',
      exit_code: 3,
      output: 'Exit code 3\nhello',
    });
    const written = claude.find((line) => line['tool_name'] === 'Write');
    expect(content(toEvent(written))).toEqual({ path: '/me/project/hello.txt' });
  });

  promiseTest(
    'recorder/clients',
    'versions, models, durations and transcripts are kept where they are reported',
    () => {
      const [created] = payloadsOf('opencode-1.18.33.jsonl').map((payload) => toEvent(payload));
      expect(created?.clientVersion).toBe('1.18.33');
      const codex = payloadsOf('codex-0.166.0.jsonl').map((payload) => toEvent(payload));
      expect(codex[3]).toMatchObject({
        model: 'gpt-5.5',
        folder: '/me/project',
        transcriptPath: expect.stringContaining('/rollout-') as string,
      });
    },
  );
});

describe('an event of a client', () => {
  promiseTest('recorder/clients', 'a patch names the files that it edits', () => {
    const command = '*** Begin Patch\n*** Update File: a.ts\n@@\n*** Add File: b.ts\n+x\n*** End Patch';
    const event = toEvent({
      session_id: 's',
      turn_id: 't',
      hook_event_name: 'PostToolUse',
      tool_name: 'apply_patch',
      tool_input: { command },
      tool_response: 'Success',
    });
    expect(event).toMatchObject({
      client: 'codex',
      action: 'edit',
      outcome: 'unknown',
      content: { path: 'a.ts\nb.ts' },
    });
  });

  promiseTest('recorder/clients', 'an output can not pretend an exit code', () => {
    const copilot = (textResultForLlm: string) =>
      toEvent({
        sessionId: 's',
        timestamp: 1,
        toolName: 'bash',
        toolArgs: { command: 'x' },
        toolResult: { resultType: 'success', textResultForLlm },
      });
    const fake = '<shellId: 0 completed with exit code 0>';
    expect(copilot(`${fake}\n<shellId: 0 completed with exit code 7>`).exitCode).toBe(7);
    expect(copilot(`${fake}\nmore`)).toMatchObject({ exitCode: null, outcome: 'unknown' });
    const gemini = (llmContent: string) =>
      toEvent({
        session_id: 's',
        timestamp: '2026-11-16T02:11:34.939Z',
        hook_event_name: 'AfterTool',
        tool_name: 'run_shell_command',
        tool_input: { command: 'x' },
        tool_response: { llmContent },
      });
    expect(gemini('Output: Exit Code: 0\nExit Code: 0\nExit Code: 3\nProcess Group PGID: 1').exitCode).toBe(3);
    expect(gemini('Output: x\nSignal: SIGTERM\nProcess Group PGID: 1')).toMatchObject({ outcome: 'unknown' });
    expect(gemini('Output: Exit Code: 0\nno end')).toMatchObject({ exitCode: null, outcome: 'unknown' });
  });

  promiseTest('recorder/clients', 'an exit code that no entry can hold is a failure without a code', () => {
    for (const code of [-1, -(2 ** 31), 2 ** 32, 2 ** 40]) {
      const call = { tool: 'bash', sessionID: 's', callID: 'c', args: { command: 'x' } };
      const event = toEvent({ hook: 'tool.execute.after', input: call, output: { metadata: { exit: code } } });
      expect(event).toMatchObject({ exitCode: null, outcome: 'failed' });
      expect(event.content.exit_code).toBeUndefined();
    }
  });

  promiseTest('recorder/clients', 'an agent inside a shell of Copilot CLI keeps its name', () => {
    for (const file of ['claude-code-2.1.325.jsonl', 'codex-0.166.0.jsonl', 'opencode-1.18.33.jsonl'])
      for (const payload of payloadsOf(file))
        expect(toEvent(payload, { isInCopilotCli: true })).toEqual(toEvent(payload));
    const [gemini] = payloadsOf('gemini-cli-0.61.0.jsonl');
    expect(toEvent(gemini, { client: 'gemini-cli', isInCopilotCli: true }).client).toBe('gemini-cli');
  });

  promiseTest('recorder/clients', 'the command line overrides what the shape says', () => {
    const [start] = payloadsOf('copilot-cli-1.0.102.jsonl');
    expect(toEvent(start, { client: 'copilot-cli', event: 'agentStop' }).phase).toBe('stop');
    expect(toEvent({ session_id: 's', hook_event_name: 'SessionEnd' }, { client: 'codex' }).client).toBe('codex');
    expect(toEvent({ session_id: 's', hook_event_name: 'SessionEnd' }, { client: 'no-such' }).client).toBe(
      'claude-code',
    );
  });
});
