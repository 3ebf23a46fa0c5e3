import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { HEALTH_CODES } from '../../src/domains/system/schema.ts';
import { connectRaw, type RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, tamper, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { rewriteFile } from '../verification/forge/sqlite-pages.ts';
import { createSmallDisk, SMALL_FILES } from './disk/small-disk.ts';

const LONG = { title: 'filler', description: 'x'.repeat(5000) };

describe('a disk without space', () => {
  promiseTest('fault/health', 'a full file system, until space is free again', async () => {
    const cwd = tempFolder();
    const disk = createSmallDisk(cwd);
    const client = await connectRaw({ cwd, launcher: disk?.launcher ?? SMALL_FILES });
    const { child } = client.program;
    await client.data('server_health');
    disk?.fill(child);
    while ((await client.call('task_create', LONG))['ok'] === true);
    await expectUnrecorded(client, disk === undefined ? /: / : /the disk is full; free some space/);
    if (disk === undefined) return;
    disk.free(child);
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', problems: [] });
    const copy = tempFolder();
    disk.copy(child, '.colibri', dirname(ledgerIn(copy)));
    expect((await listCalls(ledgerIn(copy))).map(({ tool }) => tool)).not.toContain('server_ping');
    await verifyFile(ledgerIn(copy));
  });
});

describe('a ledger file that was deleted', () => {
  promiseTest('fault/health', 'while the server runs', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    rmSync(dirname(ledgerIn(cwd)), { recursive: true });
    await expectUnrecorded(client, /deleted or replaced.*restart/);
    expect(await client.end()).toEqual({ code: 0, signal: null });
    expect(existsSync(ledgerIn(cwd))).toBe(false);
  });
});

describe('a ledger that may only be read', () => {
  for (const [name, protect, release] of [
    ['a read-only file', (path: string) => chmodSync(path, 0o400), (path: string) => chmodSync(path, 0o600)],
    [
      'a read-only folder',
      (path: string) => chmodSync(dirname(path), 0o500),
      (path: string) => chmodSync(dirname(path), 0o700),
    ],
  ] as const)
    promiseTest('fault/health', `${name}: until it may be written`, async () => {
      const cwd = tempFolder();
      const path = ledgerIn(cwd);
      const first = await connectRaw({ cwd });
      await first.data('server_health');
      await first.end();
      protect(path);
      const client = await connectRaw({ cwd, launcher: withoutPrivileges() });
      expect(await client.data('server_health')).toMatchObject({
        status: 'degraded',
        problems: [{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(/may not be written.*retries/) }],
      });
      expect(JSON.stringify(await client.call('task_create', LONG))).toMatch(/ERR_INIT_FAILED.*call server_health/);
      release(path);
      await client.logLine('ready');
      expect(await client.data('server_health')).toMatchObject({ status: 'ok', problems: [] });
      await client.end();
      await verifyFile(path);
    });
});

describe('a ledger file that was damaged', () => {
  promiseTest('fault/health', 'a freelist that begins nowhere, until a change succeeds', async () => {
    const cwd = tempFolder();
    const path = ledgerIn(cwd);
    const first = await connectRaw({ cwd });
    expect(await first.call('task_create', LONG)).toHaveProperty('ok', true);
    await first.end();
    const setFreePages = (count: number) =>
      rewriteFile(path, (bytes) => {
        bytes.writeUInt32BE(count, 36);
        return bytes;
      });
    setFreePages(7);
    const client = await connectRaw({ cwd });
    while ((await client.call('task_create', LONG))['ok'] === true);
    for (let call = 0; call < 2; call += 1)
      expect(await client.data('server_health')).toMatchObject({
        status: 'degraded',
        problems: expect.arrayContaining([
          { code: 'LEDGER_DAMAGED', message: expect.stringContaining('the file is damaged') },
        ]),
      });
    await client.end();
    setFreePages(0);
    const last = await connectRaw({ cwd });
    expect(await last.call('task_create', LONG)).toHaveProperty('ok', true);
    expect(await last.data('server_health')).toMatchObject({ status: 'ok', problems: [] });
    await last.end();
    await verifyFile(path);
  });
});

describe('a ledger that refuses entries', () => {
  promiseTest('fault/health', 'an enter that is refused leaves no trace of the call', async () => {
    const { client, path } = await startWithTrigger('action.enter');
    await expectUnrecorded(client, /refused by test/);
    await tamper(path, 'DROP TRIGGER refusing');
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', problems: [] });
    expect(await client.data('server_ping')).not.toHaveProperty('recorded');
    await client.end();
    const calls = await listCalls(path);
    expect(calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['server_health', 'ok'],
      ['server_health', 'ok'],
      ['server_ping', 'ok'],
    ]);
    await verifyFile(path);
  });

  promiseTest('fault/health', 'an exit that is refused is recorded with the answer that the client got', async () => {
    const { client, path } = await startWithTrigger('action.exit');
    expect(await client.data('server_health')).toMatchObject({
      status: 'degraded',
      problems: [
        {
          code: 'CALL_NOT_RECORDED',
          message: expect.stringMatching(/^the result of this call could not be recorded yet: .*refused by test/),
        },
      ],
    });
    expect(await client.logLine('audit exit failed')).toMatchObject({ level: 'error', tool: 'server_health' });
    // The exit is still missing, so no enter is recorded either.
    await expectUnrecorded(client, /refused by test/);
    await tamper(path, 'DROP TRIGGER refusing');
    expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
    await client.end();
    expect((await listCalls(path)).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['server_health', 'ok'],
      ['server_health', 'ok'],
      ['server_health', 'ok'],
    ]);
    await verifyFile(path);
  });

  for (const input of [{ deep: true }, { problems: [] }, { title: 'x' }])
    promiseTest('fault/health', `bad input is refused: ${JSON.stringify(input)}`, async () => {
      const { client } = await startWithTrigger('action.enter');
      for (const tool of ['server_health', 'server_ping'])
        expect(await client.call(tool, input)).toMatchObject({ error: { code: 'AUDIT_ENTER_FAILED' } });
      await client.end();
    });
});

describe('the codes of problems', () => {
  promiseTest('fault/health', 'docs/operations.md explains each code, and no other', () => {
    const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('## What `server_health` reports');
    const table = section.split('\n## ')[0] ?? '';
    const documented = [...table.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code);
    expect(documented).toEqual([...HEALTH_CODES]);
  });
});

/** What a client sees while no call can be recorded. */
async function expectUnrecorded(client: RawClient, why: RegExp): Promise<void> {
  expect(await client.data('server_health')).toMatchObject({
    status: 'degraded',
    problems: expect.arrayContaining([
      { code: 'CALL_NOT_RECORDED', message: expect.stringMatching(new RegExp(`^this call could not.*${why.source}`)) },
    ]),
    mode: 'FULL',
    tools: { registered: 14 },
  });
  expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL', recorded: false });
  for (const tool of ['task_create', 'task_list', 'task_next_actions', 'skill_list', 'audit_verify_chain'])
    expect(await client.call(tool, tool === 'task_create' ? LONG : {}), tool).toMatchObject({
      ok: false,
      error: {
        code: 'AUDIT_ENTER_FAILED',
        message: expect.stringMatching(/; call server_health to see what is wrong$/),
      },
    });
}

/** Root may write every file; without its capabilities it obeys permissions like any owner. */
function withoutPrivileges(): readonly string[] {
  return userInfo().uid === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
}

/** One call goes well; from then on the ledger takes no entry of this kind. */
async function startWithTrigger(kind: string): Promise<{ client: RawClient; path: string }> {
  const cwd = tempFolder();
  const client = await connectRaw({ cwd });
  await client.data('server_health');
  const path = ledgerIn(cwd);
  await tamper(
    path,
    `CREATE TRIGGER refusing BEFORE INSERT ON ledger_entries WHEN NEW.entry ->> 'kind' = '${kind}'
     BEGIN SELECT RAISE(ABORT, 'refused by test'); END`,
  );
  return { client, path };
}
