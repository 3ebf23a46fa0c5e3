import { describe, expect } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type RecordedSession, withSession } from './recorded-session.ts';

const line = (value: object) => `${JSON.stringify(value)}\n`;

/** A transcript of one response with one call, and the stop that names it. */
function stop(session: RecordedSession, id: string, model: string, usage: object): void {
  const content = [{ type: 'tool_use', id: `call-${id}`, name: 'Bash' }];
  const text =
    line({ type: 'assistant', message: { id, model, usage, content } }) +
    line({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: `call-${id}` }] } });
  const path = session.write(`/me/${id}.jsonl`, text);
  session.report({ session_id: id, hook_event_name: 'Stop', transcript_path: path });
}

const call = (session_id: string, tool_use_id: string, fields: object) => ({
  session_id,
  tool_use_id,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'npm test' },
  tool_response: { stdout: '' },
  ...fields,
});

const claim = (session_id: string, task_id: string) =>
  call(session_id, `claim-${session_id}`, {
    tool_name: 'mcp__colibri__task_update',
    tool_input: { task_id, status: 'in_progress' },
    tool_response: JSON.stringify({ ok: true, data: { task_id, status: 'in_progress' } }),
  });

async function run(session: RecordedSession, ...args: readonly string[]) {
  const { status, stdout, stderr } = await runColibri(
    args,
    cleanEnvironment(await ledgerAt(session.server.path)),
    tempFolder(),
  );
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

async function examine(session: RecordedSession) {
  const { checks } = JSON.parse(await run(session, 'doctor', '--json')) as { checks: { check: string }[] };
  return checks.find(({ check }) => check === 'coverage');
}

const MILLION = { input_tokens: 1_000_000, output_tokens: 100_000, cache_read_input_tokens: 2_000_000 };

describe('tokens and gaps in a terminal', () => {
  promiseTest('recorder/usage-command', 'counts per task and model, their cost, and models without a price', () =>
    withSession(async (session) => {
      await session.server.createTask({ title: 'One', status: 'todo' });
      expect(await run(session, 'agents', '--usage')).toMatch(/^No client has reported tokens yet\./);
      session.report(claim('a', 'T-0001'), call('a', 'call-a', {}));
      stop(session, 'a', 'claude-opus-5-20260701', MILLION);
      stop(session, 'b', 'claude-opus-99', { input_tokens: 7 });
      // It would write its text from the right to the left.
      stop(session, 'c', 'evil\u202e\u001b[2J', { output_tokens: 3 });
      await session.ingest();
      const printed = await run(session, 'agents', '--usage');
      const [head, ...rows] = printed.split('\n');
      expect(head).toMatch(/^task +model +responses +input +output +cache read +cache write +cost$/);
      expect(rows[0]).toMatch(/^T-0001 +claude-opus-5-20260701 +1 +1,000,000 +100,000 +2,000,000 +0 +\$8\.50$/);
      expect(rows[1]).toMatch(/^no task +claude-opus-99 +1 +7 +0 +0 +0 +–$/);
      expect(rows[3]).toMatch(/^total +3 +1,000,007 +100,003 +2,000,000 +0 +\$8\.50$/);
      expect(printed).toMatch(/list prices of \d{4}-\d\d-\d\d in US dollars, from .+; not what you were charged/);
      expect(printed).toContain('2 lines have no cost');
      for (const control of ['\u202e', '\u001b']) expect(printed).not.toContain(control);
      const data = JSON.parse(await run(session, 'agents', '--usage', '--json')) as { usage: object[] };
      expect(data).toMatchObject({
        usage: [
          { task_id: 'T-0001', model: 'claude-opus-5-20260701', cache_read_tokens: 2_000_000, cost_usd: 8.5 },
          { task_id: null, model: 'claude-opus-99', input_tokens: 7, cost_usd: null },
          { task_id: null, output_tokens: 3, cost_usd: null },
        ],
        prices: { currency: 'USD', date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string },
      });
    }),
  );

  promiseTest('recorder/gaps-shown', 'agents, show, timeline and doctor name the calls that were not recorded', () =>
    withSession(async (session) => {
      await session.server.createTask({ title: 'One', status: 'todo' });
      session.report(claim('a', 'T-0001'));
      stop(session, 'a', 'm', {});
      session.report({ session_id: 'lost', hook_event_name: 'Stop', transcript_path: '/dev/zero' });
      await session.ingest();
      const gap = 'claude-code session a: 1 of 1 call not recorded: call-a';
      const refused = 'claude-code session lost: the transcript is outside of the home folder';
      const listed = await run(session, 'agents');
      expect(listed).toContain(`\nNot everything was recorded\n${refused}\n${gap}\n`);
      const { gaps } = JSON.parse(await run(session, 'agents', '--json')) as { gaps: object[] };
      expect(gaps).toMatchObject([
        { session: 'lost', seen: 0, recorded: 0, missing: [], defect: 'is outside of the home folder' },
        { session: 'a', client: 'claude-code', seen: 1, recorded: 0, missing: ['call-a'], defect: null },
      ]);
      const shown = await run(session, 'show', '1');
      expect(shown).toContain(`recorder    ${gap}`);
      expect(shown).not.toContain('lost');
      const told = (await run(session, 'timeline', '1', '--json')).trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(told)).toMatchObject({ kind: 'totals', gaps: [{ session: 'a', missing: ['call-a'] }] });
      expect(await examine(session)).toMatchObject({
        status: 'warn',
        message: `${refused}; 1 earlier session has gaps`,
        fix: expect.stringContaining('colibri init --record') as string,
      });
      session.report(call('a', 'call-a', {}));
      stop(session, 'a', 'm', {});
      await session.ingest();
      expect(await examine(session)).toMatchObject({
        status: 'ok',
        message: expect.stringMatching(/session a: all 1 call recorded; 1 earlier/) as string,
      });
      expect(await run(session, 'show', '1')).toContain('recorder    all 1 call of its sessions recorded');
      expect(JSON.parse(await run(session, 'show', '1', '--json'))).toMatchObject({
        coverage: [{ seen: 1, recorded: 1 }],
      });
    }),
  );
});
