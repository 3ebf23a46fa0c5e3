import { describe, expect } from 'vitest';
import { connectRaw, type RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, queryFile, tamper, verifyFile } from '../support/ledger.ts';
import { fixturePath } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('a ledger that refuses entries', () => {
  promiseTest('fault/enter', 'the refusal is reported, and the next call after the repair works', async () => {
    const { client, path } = await startWithTrigger('action.enter');
    expect(await client.call('skill_list')).toMatchObject({
      ok: false,
      error: {
        code: 'AUDIT_ENTER_FAILED',
        message: expect.stringMatching(/skill_list did not run.*refused by test; call server_health/),
      },
    });
    await dropTrigger(path);
    expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
    await client.end();
    expect((await listCalls(path)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect((await verifyFile(path)).size).toBe(5);
  });

  promiseTest('fault/enter', 'a tool that would change the ledger changes nothing', async () => {
    const { client, path } = await startWithTrigger('action.enter', 'server');
    expect(await client.call('note', { text: 'lost' })).toMatchObject({ error: { code: 'AUDIT_ENTER_FAILED' } });
    await client.end();
    expect(await notes(path)).toEqual(['before']);
    await verifyFile(path);
  });

  promiseTest('fault/exit', 'read-only tool: the failure is reported, and the exit is recorded later', async () => {
    const { client, path } = await startWithTrigger('action.exit');
    expect(await client.call('skill_list')).toMatchObject({
      ok: false,
      error: { code: 'AUDIT_EXIT_FAILED', message: expect.stringContaining('refused by test') },
    });
    expect(await client.logLine('audit exit failed')).toMatchObject({ level: 'error', tool: 'skill_list' });
    // An enter would be followed by no exit either, so nothing runs until the exit is recorded.
    expect(await client.call('skill_list')).toMatchObject({ error: { code: 'AUDIT_ENTER_FAILED' } });
    await dropTrigger(path);
    expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL' });
    await client.end();
    expect((await listCalls(path)).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['server_health', 'ok'],
      ['skill_list', 'AUDIT_EXIT_FAILED'],
      ['server_ping', 'ok'],
    ]);
    expect((await verifyFile(path)).size).toBe(7);
  });

  promiseTest('fault/exit', 'writing tool: its change is rolled back, and the log records the failure', async () => {
    const { client, path } = await startWithTrigger('action.exit', 'server');
    expect(await client.call('note', { text: 'undone' })).toMatchObject({
      ok: false,
      error: { code: 'AUDIT_EXIT_FAILED', message: expect.stringContaining('nothing was changed') },
    });
    expect(await notes(path)).toEqual(['before']);
    await dropTrigger(path);
    expect(await client.call('note', { text: 'after' })).toMatchObject({ ok: true });
    await client.end();
    expect(await notes(path)).toEqual(['before', 'after']);
    expect((await listCalls(path)).map(({ outcome }) => outcome)).toEqual(['ok', 'AUDIT_EXIT_FAILED', 'ok']);
    await verifyFile(path);
  });

  promiseTest('fault/exit', 'failed tool: the client gets the error of the tool', async () => {
    const { client, path } = await startWithTrigger('action.exit', 'server');
    expect(await client.call('throw_string')).toMatchObject({ error: { code: 'INTERNAL' } });
    expect(await client.logLine('audit exit failed')).toMatchObject({ tool: 'throw_string' });
    await dropTrigger(path);
    await client.call('note', { text: 'after' });
    await client.end();
    expect((await listCalls(path)).map(({ outcome }) => outcome)).toEqual(['ok', 'INTERNAL', 'ok']);
    await verifyFile(path);
  });

  promiseTest('fault/killed', 'an exit that a server never recorded is closed by the next server', async () => {
    const { client, path, cwd } = await startWithTrigger('action.exit');
    await client.call('server_health');
    await client.end();
    await dropTrigger(path);
    const next = await connectRaw({ cwd });
    await next.data('server_health');
    await next.end();
    expect((await listCalls(path)).map(({ outcome }) => outcome)).toEqual(['ok', 'interrupted', 'ok']);
    await verifyFile(path);
  });
});

describe('a tool that throws', () => {
  for (const [name, tool, thrown] of [
    ['a string', 'throw_string', 'just a string'],
    ['after it changed the database', 'throw_after_change', 'after the change'],
  ] as const) {
    promiseTest('fault/thrown', name, async () => {
      const cwd = tempFolder();
      const client = await connectRaw({ cwd, program: fixturePath('server') });
      const answer = await client.call(tool);
      expect(answer).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
      expect(JSON.stringify(answer)).not.toContain(thrown);
      const { correlationId } = (answer['error'] as { details: { correlationId: string } }).details;
      expect(await client.logLine('bug')).toMatchObject({ tool, correlationId, error: { message: thrown } });
      expect(await client.call('note', { text: 'next' })).toMatchObject({ ok: true });
      await client.end();
      expect(await notes(ledgerIn(cwd))).toEqual(['next']);
      expect((await listCalls(ledgerIn(cwd))).map(({ outcome }) => outcome)).toEqual(['INTERNAL', 'ok']);
      await verifyFile(ledgerIn(cwd));
    });
  }
});

/** One call goes well; from then on the ledger takes no entry of this kind. */
async function startWithTrigger(
  kind: string,
  fixture?: string,
): Promise<{ client: RawClient; path: string; cwd: string }> {
  const cwd = tempFolder();
  const client = await connectRaw({ cwd, ...(fixture === undefined ? {} : { program: fixturePath(fixture) }) });
  if (fixture === undefined) await client.data('server_health');
  else await client.call('note', { text: 'before' });
  const path = ledgerIn(cwd);
  await tamper(
    path,
    `CREATE TRIGGER refusing BEFORE INSERT ON ledger_entries WHEN NEW.entry ->> 'kind' = '${kind}'
     BEGIN SELECT RAISE(ABORT, 'refused by test'); END`,
  );
  return { client, path, cwd };
}

function dropTrigger(path: string): Promise<void> {
  return tamper(path, 'DROP TRIGGER refusing');
}

async function notes(path: string): Promise<string[]> {
  const sql = 'SELECT description AS note FROM tasks ORDER BY task_no';
  return (await queryFile<{ note: string }>(path, sql)).map(({ note }) => note);
}
