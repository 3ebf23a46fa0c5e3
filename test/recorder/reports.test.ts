import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { listTaskCoverage } from '../../src/recorder/reports/list-reports.ts';
import { promiseTest } from '../support/promise-test.ts';
import { fixture, linesOf, type RecordedSession, withSession } from './recorded-session.ts';

const SESSION = '6e2ec340-1cad-4b31-b489-596367f02bd2';
const FORK = '94954350-3a55-47ef-90e4-f5fa9a01007b';
const SUBAGENT = 'a88239cac8fe5dd87';
const FOLDER = '/me/.claude/projects/-home-me-project';
const CLAUDE = 'claude-opus-5-5';

const hookName = (payload: object) => (payload as { hook_event_name?: string }).hook_event_name;
const callOf = (payload: object) => (payload as { tool_use_id?: string }).tool_use_id;

/** Everything that Claude Code wrote, with its real paths. */
function writeClaude(session: RecordedSession): void {
  session.write(`${FOLDER}/${SESSION}.jsonl`, fixture('claude-code-2.1.325.jsonl'));
  session.write(`${FOLDER}/${FORK}.jsonl`, fixture('claude-code-2.1.325-fork.jsonl'));
  session.write(
    `${FOLDER}/${SESSION}/subagents/agent-${SUBAGENT}.jsonl`,
    fixture('claude-code-2.1.325-subagent.jsonl'),
  );
}

async function recordClaude(session: RecordedSession, isReported: (payload: object) => boolean = () => true) {
  await session.server.createTask({ title: 'From Claude Code', status: 'todo' });
  writeClaude(session);
  session.report(...session.hooks('claude-code-2.1.325').filter(isReported));
  await session.ingest();
}

/** Tokens of the responses with these numbers: the scripted model counted its responses. */
const claudeTokens = (...responses: readonly number[]) => [
  responses.length,
  responses.reduce((sum, number) => sum + number + 10, 0),
  responses.reduce((sum, number) => sum + number + 50, 0),
  responses.length * 1000,
  responses.length * 60,
  responses.length * 40,
];

describe('the coverage of a session', () => {
  promiseTest('recorder/coverage', 'every call of Claude Code, its sub-agents, a resumed and a forked session', () =>
    withSession(async (session) => {
      await recordClaude(session);
      expect(await session.coverage()).toEqual([
        { agent: SUBAGENT, seen: 1, recorded: 1 },
        { seen: 10, recorded: 10 },
        { seen: 0, recorded: 0 },
      ]);
      expect(readdirSync(session.spool)).toEqual([]);
    }),
  );

  promiseTest('recorder/coverage', 'calls that were not recorded are named, also those of a silent sub-agent', () =>
    withSession(async (session) => {
      const isLost = (payload: object) => ['toolu_m4_0', 'toolu_m13_0', 'toolu_s8_0'].includes(callOf(payload) ?? '');
      const isSilent = (payload: object) => hookName(payload) === 'SubagentStop';
      await recordClaude(session, (payload) => !isLost(payload) && !isSilent(payload));
      expect(await session.coverage()).toEqual([
        { seen: 10, recorded: 8, missing: ['toolu_m4_0', 'toolu_m13_0'] },
        { agent: SUBAGENT, seen: 1, recorded: 0, missing: ['toolu_s8_0'] },
        { seen: 0, recorded: 0 },
      ]);
      const reports = await session.server.database.read((reader) => listTaskCoverage(reader, 1));
      expect(reports.map((report) => [report.session, report.agent])).toEqual([
        [SESSION, SUBAGENT],
        [SESSION, null],
      ]);
      expect(await session.server.database.read((reader) => listTaskCoverage(reader, 2))).toEqual([]);
    }),
  );

  promiseTest('recorder/coverage', 'a call that the client refused is not a gap, and one that began counts', () =>
    withSession(async (session) => {
      await recordClaude(session, (payload) => hookName(payload) !== 'PreToolUse');
      expect((await session.coverage())[1]).toEqual({ seen: 9, recorded: 9 });
    }),
  );

  promiseTest('recorder/coverage', 'a later report replaces an earlier one, and an equal one is not repeated', () =>
    withSession(async (session) => {
      await session.server.createTask({ title: 'From Claude Code', status: 'todo' });
      const whole = linesOf(fixture('claude-code-2.1.325.jsonl'));
      const stopped = whole.findIndex((line) => line.includes('stop_hook_summary'));
      const path = `${FOLDER}/${SESSION}.jsonl`;
      // The client is in the middle of a line.
      session.write(path, `${whole.slice(0, stopped).join('\n')}\n{"type":"assis`);
      const isOwn = (payload: object) =>
        JSON.stringify(payload).includes(SESSION) && hookName(payload) !== 'SubagentStop';
      const hooks = session.hooks('claude-code-2.1.325').filter(isOwn);
      const isStop = (payload: object) => hookName(payload) === 'Stop';
      session.report(...hooks.slice(0, hooks.findIndex(isStop) + 1));
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 10, recorded: 10 }]);
      expect((await session.usage()).map(([, , responses]) => responses)).toEqual([3, 9]);
      const size = await session.server.query('SELECT idx FROM ledger_entries');
      session.report(hooks.find(isStop) as object);
      await session.ingest();
      // The event itself, and no report.
      expect(await session.server.query('SELECT idx FROM ledger_entries')).toHaveLength(size.length + 1);
      session.write(path, `${whole.join('\n')}\n`);
      session.report(...hooks.slice(hooks.findIndex(isStop) + 1));
      await session.ingest();
      expect((await session.usage()).map(([task, , responses]) => [task, responses])).toEqual([
        [null, 4],
        ['T-0001', 9],
      ]);
    }),
  );

  promiseTest('recorder/coverage', 'Codex: a call that its hooks do not report is a gap', () =>
    withSession(async (session) => {
      const hooks = session.hooks('codex-0.166.0');
      session.write(String(hooks[0]?.['transcript_path']), fixture('codex-0.166.0.jsonl'));
      session.report(...hooks.filter((payload) => callOf(payload) !== 'call_2'));
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 3, recorded: 2, missing: ['call_2'] }]);
      const input = 7 * 100 + 28 - 280;
      expect(await session.usage()).toEqual([[null, 'gpt-5.5', 7, input, 7 * 20 + 28, 280, 0, 0]]);
    }),
  );

  for (const [name, missing, tokens] of [
    ['gemini-cli-0.61.0', 'run_shell_command__c2', ['gemini-2.5-flash', 6, 360, 162, 240, 0, 0]],
    ['copilot-cli-1.0.102', 'call_2', ['scripted', 5, 5, 5, 0, 0, 0]],
  ] as const) {
    promiseTest('recorder/coverage', `${name}: calls without ids are compared by tool, input and order`, () =>
      withSession(async (session) => {
        const hooks = session.hooks(name);
        const path = hooks.map((payload) => payload['transcript_path'] ?? payload['transcriptPath']).find(Boolean);
        session.write(String(path), fixture(`${name}.jsonl`));
        // The last of two equal commands is lost, before and after it ran.
        const places = hooks.flatMap((payload, place) =>
          JSON.stringify(payload).includes('"echo fine"') ? place : [],
        );
        session.report(...hooks.filter((_payload, place) => !places.slice(2).includes(place)));
        await session.ingest();
        expect(await session.coverage()).toEqual([{ seen: 4, recorded: 3, missing: [missing] }]);
        expect(await session.usage()).toEqual([[null, ...tokens]]);
        session.report(...places.slice(2).map((place) => hooks[place] as object), ...hooks.slice(-2));
        await session.ingest();
        expect((await session.coverage()).at(-1)).toEqual({ seen: 4, recorded: 4 });
        expect(await session.usage()).toEqual([[null, ...tokens]]);
      }),
    );
  }
});

describe('a call without an id', () => {
  promiseTest('recorder/coverage', 'is not taken for one with another input', () =>
    withSession(async (session) => {
      const hooks = session.hooks('gemini-cli-0.61.0');
      session.write(String(hooks[0]?.['transcript_path']), fixture('gemini-cli-0.61.0.jsonl'));
      session.report(...hooks.filter((payload) => !JSON.stringify(payload).includes('echo hi')));
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 4, recorded: 3, missing: ['run_shell_command__c0'] }]);
    }),
  );
});

describe('the tokens of a session', () => {
  promiseTest('recorder/usage', 'each response counts once, for the task that the session held', () =>
    withSession(async (session) => {
      await recordClaude(session);
      expect(await session.usage()).toEqual([
        // The two responses of the sub-agent belong to the task too.
        ['T-0001', CLAUDE, ...claudeTokens(8, 9, 3, 4, 5, 6, 7, 10, 11, 12, 13)],
        [null, CLAUDE, ...claudeTokens(1, 2, 14, 15, 16)],
      ]);
    }),
  );

  promiseTest('recorder/usage', 'those of a sub-agent count for the task that it claimed itself', () =>
    withSession(async (session) => {
      for (const title of ['One', 'Two']) await session.server.createTask({ title, status: 'todo' });
      writeClaude(session);
      const hooks = session.hooks('claude-code-2.1.325');
      const place = hooks.findIndex((payload) => hookName(payload) === 'SubagentStart');
      const claim = {
        ...hooks[place],
        hook_event_name: 'PostToolUse',
        tool_name: 'mcp__colibri__task_update',
        tool_input: { task_id: 'T-0002', status: 'in_progress' },
        tool_response: JSON.stringify({ ok: true, data: { task_id: 'T-0002', status: 'in_progress', claim: 3 } }),
        tool_use_id: 'toolu_claim',
      };
      session.report(...hooks.slice(0, place + 1), claim, ...hooks.slice(place + 1));
      await session.ingest();
      expect(await session.usage()).toEqual([
        ['T-0002', CLAUDE, ...claudeTokens(8, 9)],
        [null, CLAUDE, ...claudeTokens(1, 2, 14, 15, 16)],
        ['T-0001', CLAUDE, ...claudeTokens(3, 4, 5, 6, 7, 10, 11, 12, 13)],
      ]);
    }),
  );

  promiseTest('recorder/usage', 'several processes that report one stop, one of them killed before, count once', () =>
    withSession(async (session) => {
      await session.server.createTask({ title: 'From Claude Code', status: 'todo' });
      writeClaude(session);
      session.report(...session.hooks('claude-code-2.1.325'));
      await session.ingest({ isHurried: true });
      expect([await session.usage(), readdirSync(session.spool).length > 0]).toEqual([[], true]);
      await Promise.all([session.ingest(), session.ingest(), session.ingest()]);
      const responses = (await session.usage()).map(([, , count]) => count);
      expect(responses).toEqual([11, 5]);
      expect(await session.coverage()).toHaveLength(3);
      expect(readdirSync(session.spool)).toEqual([]);
    }),
  );

  promiseTest('recorder/usage', 'a task that is learned late moves no token and counts none twice', () =>
    withSession(async (session) => {
      const isClaim = (payload: object) => callOf(payload) === 'toolu_m3_0';
      await recordClaude(session, (payload) => !isClaim(payload));
      const before = await session.usage();
      expect(before.map(([task, , responses]) => [task, responses])).toEqual([[null, 16]]);
      const hooks = session.hooks('claude-code-2.1.325');
      session.report(...hooks.filter((payload) => isClaim(payload) || hookName(payload) === 'Stop'));
      await session.ingest();
      const sums = (await session.usage()).map(([, , responses, input]) => [responses, input]);
      expect(sums).toEqual([before[0]?.slice(2, 4)]);
    }),
  );
});

describe('a transcript that cannot be compared', () => {
  const stop = (path: string) => ({
    session_id: 's-1',
    hook_event_name: 'Stop',
    transcript_path: path,
  });

  promiseTest('recorder/coverage', 'is a gap that says why, and stops no event', () =>
    withSession(async (session) => {
      session.report(
        { ...stop(''), hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c' },
        stop(join(session.home, 'gone.jsonl')),
      );
      expect(await session.ingest()).toEqual({ recorded: 2, rejected: 0 });
      expect(await session.coverage()).toEqual([{ seen: 0, recorded: 0, defect: 'does not exist' }]);
      session.report(stop(join(session.home, 'gone.jsonl')));
      await session.ingest();
      session.report(stop(session.write('/me/other.jsonl', 'no JSON at all\n')));
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 0, recorded: 0, defect: 'has an unknown format' }]);
      expect(readdirSync(session.spool)).toEqual([]);
      expect(await session.usage()).toEqual([]);
    }),
  );

  promiseTest('recorder/coverage', 'a call that runs is not a gap yet, and a stop is that of its session', () =>
    withSession(async (session) => {
      const use = { type: 'assistant', message: { id: 'm', content: [{ type: 'tool_use', id: 'c', name: 'Bash' }] } };
      const result = { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'c' }] } };
      const path = session.write('/me/running.jsonl', `${JSON.stringify(use)}\n`);
      session.report({ ...stop(path), agent_id: 'main' });
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 0, recorded: 0 }]);
      session.write('/me/running.jsonl', `${JSON.stringify(use)}\n${JSON.stringify(result)}\n`);
      session.report({ ...stop(path), hook_event_name: 'SessionEnd' });
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 1, recorded: 0, missing: ['c'] }]);
    }),
  );

  promiseTest('recorder/coverage', 'more missing calls than a report lists are still counted', () =>
    withSession(async (session) => {
      const call = (id: string) => [
        { type: 'assistant', message: { id: 'm', content: [{ type: 'tool_use', id, name: 'Bash' }] } },
        { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id }] } },
      ];
      const secret = `ghp_${'a1'.repeat(18)}`;
      const ids = [' ', 'a\nb', 'x'.repeat(300), secret, ...Array.from({ length: 1200 }, (_, place) => `c-${place}`)];
      const path = session.write(
        '/me/long.jsonl',
        ids
          .flatMap(call)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      );
      session.report(stop(path));
      await session.ingest();
      const [report] = (await session.coverage()) as [{ seen: number; recorded: number; missing: string[] }];
      expect([report.seen, report.recorded, report.missing.length]).toEqual([1204, 0, 1000]);
      expect(report.missing.slice(0, 2)).toEqual(['unnamed', 'a\ufffdb']);
      expect(JSON.stringify(report)).not.toContain(secret);
    }),
  );
});
