import { describe, expect } from 'vitest';
import { closeInterruptedCalls } from '../../src/ledger/calls/interrupted.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { type Asked, type Input, Journal } from '../../torture/processes/journal.ts';
import { judge } from '../../torture/processes/referee.ts';
import { renderScript, writeScript } from '../../torture/processes/script.ts';
import { judgeWaits } from '../../torture/processes/waits.ts';
import { Random } from '../../torture/random.ts';
import { AT, enterEvent, exitEvent, processIdOf } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

const LANE = 'agent-1';
/** Of answers whose outcome is judged, and not their time. */
const UNMEASURED = { receipt: undefined, waitedMs: 0, atMs: 0 };

describe('the referee of the processes', () => {
  promiseTest('torture/frame', 'accepts a ledger that has what was answered', () =>
    withAgent(async (server) => {
      const { journal, ask } = play(server);
      await ask('task_create', { title: marker(0), status: 'todo' });
      await ask('task_update', { task_id: 'T-0001', status: 'in_progress', description: marker(1) });
      await ask('audit_session_start', { task_id: 'T-0001', auditor_id: marker(2) });
      await ask('thought_record', { task_id: 'T-0001', type: 'decision', content: marker(3) });
      await ask('merkle_finalize', { session_id: 'A-0001' });
      await ask('task_update', { task_id: 'T-0001', status: 'done', description: marker(5) });
      expect(journal.asked.map(({ answer }) => answer?.outcome).slice(-2)).toEqual(['ok', 'ERR_INVALID_TRANSITION']);
      expect(await judgeNow(server, journal)).toEqual([]);
      // A change without an answer may have been made, or not.
      journal.ask({ marker: marker(9), lane: LANE }, { tool: 'task_create', input: {} });
      for (const asked of journal.asked) asked.answer = undefined;
      expect(await judgeNow(server, journal)).toEqual([]);
    }),
  );

  promiseTest('torture/frame', 'reports an answered change that is missing or was not made once', () =>
    withAgent(async (server) => {
      const { journal, ask, claim } = play(server);
      await ask('task_create', { title: marker(0), status: 'todo' });
      claim('task_create', 1, 'ok');
      expect(await judgeNow(server, journal)).toEqual([
        expect.stringContaining(`${marker(1)} task_create: answered ok, and is there 0 times`),
        expect.stringContaining(`${marker(1)} task_create: answered ok, and recorded 0 times`),
        `${LANE} task_create: sent 2, answered 2, recorded 1`,
      ]);
      await server.createTask({ title: marker(0) });
      expect(await judgeNow(server, journal)).toContainEqual(expect.stringContaining('and is there 2 times'));
    }),
  );

  promiseTest('torture/frame', 'reports a refused change that was made, and an outcome that was not answered', () =>
    withAgent(async (server) => {
      const { journal, ask } = play(server);
      const asked = await ask('task_create', { title: marker(0) });
      asked.answer = { outcome: 'ERR_NOT_FOUND', ...UNMEASURED };
      expect(await judgeNow(server, journal)).toEqual([
        expect.stringContaining('answered ERR_NOT_FOUND, and is there 1 times'),
        expect.stringContaining('answered ERR_NOT_FOUND, recorded ok'),
      ]);
    }),
  );

  promiseTest(
    'torture/frame',
    'accepts a refusal that is recorded as interrupted, only of a call whose process stopped',
    () =>
      withAgent(async (server) => {
        const { journal, ask } = play(server);
        await ask('task_create', { title: marker(0) });
        const recorder = new CallRecorder(server.database, processIdOf('stopped'));
        const args = JSON.stringify({ description: marker(1), task_id: 'T-0001' });
        await recorder.enter({ ...enterEvent('stopped', args), actor: LANE, tool: 'task_update' });
        await closeInterruptedCalls(server.database, 'last', AT);
        const refused = (isDisturbed: boolean) => {
          const asked = new Journal().ask(
            { marker: marker(1), lane: LANE, isDisturbed },
            { tool: 'task_update', input: { task_id: 'T-0001' } },
          );
          asked.answer = { outcome: 'ERR_INVALID_TRANSITION', ...UNMEASURED };
          return asked;
        };
        const judgeWith = (asked: Asked, mayRefuse: boolean) =>
          server.database.read((reader) =>
            judge(reader, Object.assign(new Journal(), { asked: [...journal.asked, asked] }), { mayRefuse }),
          );
        expect(await judgeWith(refused(true), true)).toEqual([]);
        for (const [isDisturbed, mayRefuse] of [
          [true, false],
          [false, true],
        ] as const)
          expect(await judgeWith(refused(isDisturbed), mayRefuse)).toEqual([
            expect.stringContaining('answered ERR_INVALID_TRANSITION, recorded interrupted'),
          ]);
      }),
  );

  promiseTest('torture/frame', 'reports half of a change, a receipt for another entry, and a second seal', () =>
    withAgent(async (server) => {
      const { journal, ask, claim } = play(server);
      await ask('task_create', { title: marker(0) });
      const update = await ask('task_update', { task_id: 'T-0001', description: marker(1) });
      Object.assign(update, { status: 'todo' });
      const answer = (index: number, leaf: string) => ({ outcome: 'ok', ...UNMEASURED, receipt: { index, leaf } });
      update.answer = answer(3, 'f'.repeat(64));
      claim('merkle_finalize', 2, 'ok');
      const problems = await judgeNow(server, journal);
      expect(problems).toContainEqual(expect.stringContaining('stored with the status backlog instead of todo'));
      expect(problems).toContainEqual(expect.stringContaining('entry 3 is not the one that a receipt names'));
      expect(problems).toContainEqual(expect.stringContaining('was sealed 0 times'));
      update.answer = answer(999, 'f'.repeat(64));
      expect(await judgeNow(server, journal)).toContainEqual(expect.stringContaining('the log has no entry 999'));
    }),
  );

  promiseTest('torture/frame', 'reports a refusal that no stopped writer explains, and an open call', () =>
    withAgent(async (server) => {
      const { journal, claim } = play(server);
      claim('task_list', 0, 'AUDIT_ENTER_FAILED');
      expect(await judgeNow(server, journal)).toEqual([expect.stringContaining('answered AUDIT_ENTER_FAILED')]);
      const enter = { ...enterEvent('open', '{}'), actor: LANE, tool: 'task_list' };
      const recorder = new CallRecorder(server.database, processIdOf('open'));
      await recorder.enter(enter);
      const judged = server.database.read((reader) => judge(reader, journal, { mayRefuse: true }));
      expect(await judged).toEqual(['1 calls have no exit entry']);
      await recorder.exit({ ...exitEvent('open'), actor: LANE, tool: 'task_list' });
    }),
  );

  promiseTest(
    'torture/frame',
    'reports an answered ping without an entry, unless its server was killed too early',
    () =>
      withAgent(async (server) => {
        const { journal, claim } = play(server);
        claim('server_ping', 0, 'ok');
        expect(await judgeNow(server, journal)).toEqual([`${LANE} server_ping: sent 1, answered 1, recorded 0`]);
        for (const asked of journal.asked) asked.mayBeUnrecorded = true;
        expect(await judgeNow(server, journal)).toEqual([]);
      }),
  );

  promiseTest(
    'torture/frame',
    'reports a call that waited past its limit, more on a machine that is late itself',
    () => {
      const asked = [waited('agent-1', 21_000)];
      expect(judgeWaits(asked, 0).problems).toEqual([expect.stringContaining('after 21000 ms; the limit is 20000')]);
      expect(judgeWaits(asked, 200).problems).toEqual([]);
    },
  );

  promiseTest('torture/frame', 'reports an agent that waits longer than the others, of calls without a fault', () => {
    const many = (lane: string, ms: number, isDisturbed = false) =>
      Array.from({ length: 8 }, () => waited(lane, ms, isDisturbed));
    const others = [...many('agent-1', 100), ...many('agent-2', 120)];
    expect(judgeWaits([...others, ...many('agent-3', 300)], 0).problems).toEqual([]);
    expect(judgeWaits([...others, ...many('agent-3', 900, true)], 0).problems).toEqual([]);
    expect(judgeWaits([...others, ...many('agent-3', 900)], 0).problems).toEqual([
      'an agent waited 7.5 times as long as the others at that moment',
    ]);
  });

  promiseTest('torture/frame', 'does not compare an agent with others that called later, when fewer were left', () => {
    const many = (lane: string, count: number, ms: number, atMs: number) =>
      Array.from({ length: count }, () => waited(lane, ms, false, atMs));
    const busy = ['agent-1', 'agent-2', 'agent-3'].flatMap((lane) => many(lane, 8, 900, 500));
    const quiet = ['agent-1', 'agent-2'].flatMap((lane) => many(lane, 40, 60, 7500));
    expect(judgeWaits([...busy, ...quiet], 0).problems).toEqual([]);
    expect(judgeWaits([...busy, ...quiet, ...many('agent-3', 9, 900, 7500)], 0).problems).toEqual([
      'an agent waited 15.0 times as long as the others at that moment',
    ]);
  });

  promiseTest('torture/frame', 'writes the same script for the same seed', () => {
    const script = (seed: number) => renderScript(writeScript(new Random(seed), 'full', seed));
    expect(script(7)).toEqual(script(7));
    expect(script(7)).not.toEqual(script(8));
    expect(script(7).length).toBeGreaterThan(10);
  });
});

function waited(lane: string, waitedMs: number, isDisturbed = false, atMs = 0): Asked {
  const asked = new Journal().ask({ marker: '', lane, isDisturbed }, { tool: 'task_create', input: {} });
  asked.answer = { outcome: 'ok', receipt: undefined, waitedMs, atMs };
  return asked;
}

const withAgent = (work: (server: TestServer) => Promise<void>) => withServer(work, { clientName: LANE });
const marker = (number: number): string => `${LANE}:${number}:0;`;

/** An agent that keeps a journal of its calls, and can claim answers that it never got. */
function play(server: TestServer) {
  const journal = new Journal();
  const add = (tool: string, number: number, input: Input) =>
    journal.ask({ marker: marker(number), lane: LANE }, { tool, input });
  return {
    journal,
    ask: async (tool: string, input: Input) => {
      const asked = add(tool, journal.asked.length, input);
      const { failure } = await server.call(tool, input);
      asked.answer = { outcome: failure?.code ?? 'ok', ...UNMEASURED };
      return asked;
    },
    claim: (tool: string, number: number, outcome: string) => {
      add(tool, number, {}).answer = { outcome, ...UNMEASURED };
    },
  };
}

function judgeNow(server: TestServer, journal: Journal): Promise<string[]> {
  return server.database.read((reader) => judge(reader, journal, { mayRefuse: false }));
}
