import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw, startPortProcess } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, verifyFile } from '../support/ledger.ts';
import { startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

const WRONG: readonly (readonly [variable: string, value: string, hint: RegExp])[] = [
  ['COLIBRI_MODE', 'full', /FULL, READONLY, TEST, MINIMAL/],
  ['COLIBRI_DURABILITY', 'maybe', /full, relaxed/],
  ['COLIBRI_WORKFLOW', 'kanban', /board, pipeline/],
  ['COLIBRI_LOG_LEVEL', 'loud', /error, warn, info, debug/],
  ['COLIBRI_PROJECT', 'Not A Slug', /slug/],
  ['COLIBRI_AGENT_ID', 'line\nbreak', /control character/],
  ['COLIBRI_STARTUP_TIMEOUT_MS', '0', /from 1 to/],
  ['COLIBRI_STARTUP_TIMEOUT_MS', '-5', /from 1 to/],
  ['COLIBRI_STARTUP_TIMEOUT_MS', 'soon', /from 1 to/],
  ['COLIBRI_DATABASE_URL', 'mysql://user:secret@host/db', /such as postgres:/],
  [
    'COLIBRI_DATABASE_URL',
    'postgres://user:secret@host/db?sslmode=requier',
    /sslmode=requier; it is one of disable, prefer, require, verify-ca/,
  ],
  [
    'COLIBRI_DATABASE_URL',
    'postgres://user:secret@host/db?lock_timeout=abc',
    /lock_timeout=abc; it is a whole number of milliseconds from 1 to/,
  ],
  ['AMS_MODE', 'FULL', /unset/],
];

describe('a start that fails', () => {
  for (const [variable, value, hint] of WRONG) {
    promiseTest('process/exit-codes', `exit code 78 for ${variable}=${JSON.stringify(value)}`, async () => {
      const cwd = tempFolder();
      const program = startProgram({ cwd, env: { [variable]: value } });
      expect(await program.exit).toEqual({ code: 78, signal: null });
      const said = program.errorLines().join('\n');
      expect(said).toContain(variable === 'COLIBRI_MODE' ? 'ERR_INVALID_MODE' : 'ERR_CONFIG_INVALID');
      expect(said).toContain(variable);
      expect(said).toMatch(hint);
      expect(said).not.toContain('secret');
      expect(program.outLines()).toEqual([]);
      expect(readdirSync(cwd)).toEqual([]);
    });
  }

  for (const timeoutMs of ['1', '50']) {
    promiseTest(
      'process/exit-codes',
      `exit code 75 for a ledger that is locked for longer than ${timeoutMs} ms`,
      async () => {
        const cwd = tempFolder();
        await (await connectRaw({ cwd })).end();
        const other = await startPortProcess(ledgerIn(cwd));
        other.send('hold');
        await other.expectLine('held');
        const program = startProgram({ cwd, env: { COLIBRI_STARTUP_TIMEOUT_MS: timeoutMs } });
        expect(await program.exit).toEqual({ code: 75, signal: null });
        expect(program.errorLines().join('\n')).toMatch(/startup timeout exceeded.*COLIBRI_STARTUP_TIMEOUT_MS/);
        other.send('release');
        await other.expectLine('done hold');
        await verifyFile(ledgerIn(cwd));
      },
    );
  }

  promiseTest('process/exit-codes', 'exit code 1 for a ledger that cannot be opened, without any input', async () => {
    const cwd = tempFolder();
    mkdirSync(dirname(ledgerIn(cwd)), { mode: 0o700 });
    writeFileSync(ledgerIn(cwd), 'garbage '.repeat(1000), { mode: 0o600 });
    const program = startProgram({ cwd, args: ['serve'] });
    program.child.stdin?.end();
    expect(await program.exit).toEqual({ code: 1, signal: null });
    expect(program.errorLines().join('\n')).toMatch(/"degraded".*is damaged or is not a ledger/);
    expect(program.outLines()).toEqual([]);
  });

  promiseTest(
    'process/exit-codes',
    'exit code 75 for a ledger that does not open in time, without any input',
    async () => {
      const cwd = tempFolder();
      await (await connectRaw({ cwd })).end();
      const other = await startPortProcess(ledgerIn(cwd));
      other.send('hold');
      await other.expectLine('held');
      const program = startProgram({ cwd, args: ['serve'] });
      program.child.stdin?.end();
      expect(await program.exit).toEqual({ code: 75, signal: null });
      expect(program.errorLines().join('\n')).toContain('not open in time');
      other.send('release');
      await other.expectLine('done hold');
    },
  );

  for (const mode of ['FULL', 'TEST', 'MINIMAL'])
    promiseTest('process/exit-codes', `exit code 0 for a ${mode} server without any input`, async () => {
      const program = startProgram({ cwd: tempFolder(), args: ['serve'], env: { COLIBRI_MODE: mode } });
      program.child.stdin?.end();
      expect(await program.exit).toEqual({ code: 0, signal: null });
    });

  for (const [name, args, help] of [
    ['an unknown command', ['fly'], 'colibri --help'],
    ['the help of an unknown command', ['help', 'fly'], "error: unknown command 'fly'\nRun colibri --help"],
    ['a word too many', ['serve', 'now'], 'colibri serve --help'],
    ['an unknown option', ['--fast'], 'colibri --help'],
  ] as const) {
    promiseTest('process/exit-codes', `exit code 64 for ${name}`, async () => {
      const cwd = tempFolder();
      const program = startProgram({ cwd, args });
      expect(await program.exit).toEqual({ code: 64, signal: null });
      expect(program.errorLines().join('\n')).toContain(help);
      expect(readdirSync(cwd)).toEqual([]);
    });
  }
});
