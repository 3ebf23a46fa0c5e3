import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw, type RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { countKind, eventually, ledgerIn, listCalls, tamper, verifyFile } from '../support/ledger.ts';
import { fixturePath } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Never finishes writing the exit of a call by the doomed agent. */
const STUCK = `CREATE TRIGGER stuck BEFORE INSERT ON ledger_entries
  WHEN NEW.entry ->> 'kind' = 'action.exit' AND instr(NEW.entry, '"actor":"doomed"') > 0
  BEGIN
    SELECT COUNT(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);
  END`;

describe('kill -9 between the two entries of a call', () => {
  promiseTest('fault/killed', 'killed while writing the exit, and the open call of a live server is kept', async () => {
    const cwd = tempFolder();
    const path = ledgerIn(cwd);
    const living = await startCall(cwd, 'living');
    const doomed = await connectRaw({ cwd, env: { COLIBRI_AGENT_ID: 'doomed' } });
    await doomed.logLine('ready');
    await tamper(path, STUCK);
    doomed.call('server_ping').catch(() => undefined);
    await eventually(async () => (await listCalls(path)).length === 2);
    await kill(doomed);
    await tamper(path, 'DROP TRIGGER stuck');

    const next = await connectRaw({ cwd, env: { COLIBRI_AGENT_ID: 'next' } });
    await next.data('server_health');
    expect(await next.logLine('closed calls of processes that died')).toMatchObject({ calls: 1 });
    expect(await outcomes(path)).toEqual(['living running', 'doomed interrupted', 'next ok']);
    const later = await connectRaw({ cwd, env: { COLIBRI_AGENT_ID: 'later' } });
    await later.data('server_health');
    expect(await countKind(path, 'action.interrupted')).toBe(1);

    await kill(living);
    const last = await connectRaw({ cwd, env: { COLIBRI_AGENT_ID: 'last' } });
    await last.data('server_health');
    expect(await outcomes(path)).toEqual([
      'living interrupted',
      'doomed interrupted',
      'next ok',
      'later ok',
      'last ok',
    ]);
    for (const client of [next, later, last]) expect(await client.end()).toEqual({ code: 0, signal: null });
    expect(await countKind(path, 'action.interrupted')).toBe(2);
    expect(readdirSync(dirname(path)).sort()).toEqual(['.gitignore', 'colibri.db']);
    await verifyFile(path);
  });

  promiseTest('fault/killed', 'eight servers that start at the same time close the call once', async () => {
    const cwd = tempFolder();
    const path = ledgerIn(cwd);
    await kill(await startCall(cwd, 'doomed'));
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectRaw({ cwd })));
    await Promise.all(clients.map((client) => client.data('server_health')));
    await Promise.all(clients.map((client) => client.end()));
    expect(await countKind(path, 'action.interrupted')).toBe(1);
    expect((await outcomes(path))[0]).toBe('doomed interrupted');
    await verifyFile(path);
  });

  promiseTest('fault/killed', 'acknowledged calls survive the kill', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd, program: fixturePath('server') });
    const answered: unknown[] = [];
    for (let n = 0; n < 20; n += 1) answered.push(await client.call('note', { text: `note ${n}` }));
    await kill(client);
    expect(answered.every((answer) => (answer as { ok: boolean }).ok)).toBe(true);
    const calls = await listCalls(ledgerIn(cwd));
    expect(calls.filter(({ outcome }) => outcome === 'ok')).toHaveLength(20);
    await verifyFile(ledgerIn(cwd));
  });
});

/** A server whose call has been entered and does not end. */
async function startCall(cwd: string, agent: string): Promise<RawClient> {
  const client = await connectRaw({ cwd, program: fixturePath('server'), env: { COLIBRI_AGENT_ID: agent } });
  await client.logLine('ready');
  client.call('never_ends').catch(() => undefined);
  await eventually(async () => (await listCalls(ledgerIn(cwd))).some(({ actor }) => actor === agent));
  return client;
}

async function kill(client: RawClient): Promise<void> {
  client.program.child.kill('SIGKILL');
  expect((await client.program.exit).signal).toBe('SIGKILL');
}

async function outcomes(path: string): Promise<string[]> {
  return (await listCalls(path)).map(({ actor, outcome }) => `${actor} ${outcome ?? 'running'}`);
}
