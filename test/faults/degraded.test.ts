import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, listCalls, tamper, verifyFile } from '../support/ledger.ts';
import { fixturePath } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

const BROKEN: readonly (readonly [name: string, breakIt: (path: string) => Promise<void> | void, why: RegExp])[] = [
  ['a file of garbage', (path) => writeFileSync(path, 'garbage '.repeat(1000)), /damaged or is not a ledger/],
  ['a file that was cut', (path) => truncateSync(path, 8192), /damaged/],
  ['a file whose log was cut', (path) => tamper(path, 'DELETE FROM ledger_entries WHERE idx = 2'), /misses rows/],
  ['a file whose head was moved', (path) => tamper(path, 'UPDATE ledger_head SET size = 2'), /does not match its head/],
  ['a file of a newer version', (path) => tamper(path, 'PRAGMA user_version = 99'), /newer Colibri.*update/],
  ['a file of another program', (path) => tamper(path, 'PRAGMA application_id = 1'), /another program/],
  ['a folder instead of the file', replaceByFolder, /cannot be opened/],
  ['a file instead of the folder', replaceFolderByFile, /cannot be opened/],
];

describe('a server whose ledger cannot be opened', () => {
  for (const [name, breakIt, why] of BROKEN) {
    promiseTest('fault/degraded', name, async () => {
      const cwd = tempFolder();
      const path = ledgerIn(cwd);
      const first = await connectRaw({ cwd });
      await first.data('server_health');
      await first.end();
      await breakIt(path);
      const before = bytesOf(path);

      const client = await connectRaw({ cwd });
      expect(await client.data('server_health')).toMatchObject({
        status: 'degraded',
        mode: 'MINIMAL',
        phase: 'failed',
        capabilities: [],
        problems: [{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(why) }],
        db: { open: false, path: expect.stringContaining('.colibri') },
        tools: { registered: 2 },
      });
      expect(await client.data('server_ping')).toMatchObject({ mode: 'MINIMAL' });
      expect(await client.logLine('degraded')).toMatchObject({ level: 'error', code: 'ERR_INIT_FAILED' });
      expect(await client.logLine('action.exit')).toMatchObject({ tool: 'server_health', outcome: 'ok' });
      expect(await client.end()).toEqual({ code: 0, signal: null });
      expect(bytesOf(path)).toEqual(before);
    });
  }

  promiseTest(
    'fault/degraded',
    'a tool that needs the ledger is refused, and its call is logged to stderr',
    async () => {
      const cwd = tempFolder();
      mkdirSync(dirname(ledgerIn(cwd)), { mode: 0o700 });
      writeFileSync(ledgerIn(cwd), 'garbage '.repeat(1000), { mode: 0o600 });
      const client = await connectRaw({ cwd, program: fixturePath('server') });
      expect(await client.call('note', { text: 'lost' })).toMatchObject({
        ok: false,
        error: {
          code: 'HANDLER_ERROR',
          message: expect.stringMatching(/^ERR_INIT_FAILED: .*damaged.*server_health/),
          details: { code: 'ERR_INIT_FAILED' },
        },
      });
      expect(await client.logLine('action.exit')).toMatchObject({ tool: 'note', outcome: 'ERR_INIT_FAILED' });
      expect(await client.call('throw_string')).toMatchObject({ error: { code: 'INTERNAL' } });
      await client.end();
    },
  );
});

describe('a ledger that comes later than its server', () => {
  promiseTest('fault/recovers', 'the folder of the ledger is created later', async () => {
    const cwd = tempFolder();
    // Like a network drive before it is mounted: the path exists and is not a folder.
    writeFileSync(dirname(ledgerIn(cwd)), 'not a folder');
    const client = await connectRaw({ cwd });
    expect(await client.data('server_health')).toMatchObject({ status: 'degraded', mode: 'MINIMAL', phase: 'failed' });
    rmSync(dirname(ledgerIn(cwd)));
    await client.logLine('ready');
    expect(await client.data('server_health')).toMatchObject({
      status: 'ok',
      mode: 'FULL',
      phase: 'ready',
      problems: [],
    });
    expect(await client.end()).toEqual({ code: 0, signal: null });
    const calls = await listCalls(ledgerIn(cwd));
    expect(calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([['server_health', 'ok']]);
    await verifyFile(ledgerIn(cwd));
  });

  promiseTest('fault/recovers', 'a READONLY server whose ledger is created later', async () => {
    const cwd = tempFolder();
    const reader = await connectRaw({ cwd, env: { COLIBRI_MODE: 'READONLY' } });
    expect(await reader.data('server_health')).toMatchObject({ status: 'degraded', db: { open: false } });
    const writer = await connectRaw({ cwd });
    await writer.data('server_health');
    await writer.end();
    await reader.logLine('ready');
    expect(await reader.data('server_health')).toMatchObject({ status: 'ok', mode: 'READONLY', db: { open: true } });
    await reader.end();
  });
});

describe('a ledger that goes away while the server runs', () => {
  promiseTest('fault/degraded', 'a deleted ledger file: no change is acknowledged', async () => {
    const cwd = tempFolder();
    const client = await connectRaw({ cwd });
    await client.data('server_health');
    rmSync(dirname(ledgerIn(cwd)), { recursive: true });
    for (const [tool, input] of [
      ['task_create', { title: 'lost' }],
      ['skill_list', {}],
    ] as const) {
      expect(await client.call(tool, input)).toMatchObject({
        ok: false,
        error: { code: 'AUDIT_ENTER_FAILED', message: expect.stringMatching(/deleted or replaced.*restart/) },
      });
    }
    expect(await client.end()).toEqual({ code: 0, signal: null });
    expect(existsSync(ledgerIn(cwd))).toBe(false);
  });
});

describe('a full disk', () => {
  promiseTest(
    'fault/full',
    'acknowledged changes stay, refused ones are absent, and the client knows which',
    async () => {
      const cwd = tempFolder();
      const path = ledgerIn(cwd);
      const client = await connectRaw({ cwd, program: fixturePath('server'), args: ['110'] });
      const text = 'x'.repeat(1000);
      let stored = 0;
      let refusal: Record<string, unknown> | undefined;
      while (refusal === undefined) {
        const answer = await client.call('note', { text });
        if (answer['ok'] === true) stored += 1;
        else refusal = answer;
      }
      expect(stored).toBeGreaterThan(3);
      expect(JSON.stringify(refusal)).toContain('the disk is full; free some space');
      expect(await client.call('throw_string')).toMatchObject({ ok: false });
      expect(await client.end()).toEqual({ code: 0, signal: null });
      const roomier = await connectRaw({ cwd });
      expect(await roomier.data('server_health')).toMatchObject({ status: 'ok' });
      await roomier.end();
      const calls = await listCalls(path);
      expect(calls.filter(({ tool, outcome }) => tool === 'note' && outcome === 'ok')).toHaveLength(stored);
      expect(calls.every(({ outcome }) => outcome !== null)).toBe(true);
      await verifyFile(path);
    },
  );
});

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function replaceFolderByFile(path: string): void {
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), 'not a folder');
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
