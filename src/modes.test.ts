import { describe, expect, vi } from 'vitest';
import { call, openMemoryServer, type Register } from '../test/support/memory-server.ts';
import { promiseTest } from '../test/support/promise-test.ts';
import { admittedAccess, type LedgerAccess, MODES, type Mode, opensDatabase, writesLedger } from './modes.ts';

const ADMITTED: Record<Mode, string[]> = {
  FULL: ['needs_no_ledger', 'reads', 'writes', 'undeclared'],
  READONLY: ['needs_no_ledger', 'reads'],
  TEST: ['needs_no_ledger', 'reads', 'writes', 'undeclared'],
  MINIMAL: ['needs_no_ledger'],
};

const TOOLS: [string, LedgerAccess | undefined][] = [
  ['needs_no_ledger', 'none'],
  ['reads', 'read'],
  ['writes', 'write'],
  ['undeclared', undefined],
];

function registerAll(register: Register): void {
  // `undefined` overrides the helper's default, so that the tool declares no access.
  for (const [name, access] of TOOLS) register(name, undefined, { access } as { access: LedgerAccess });
}

for (const mode of MODES) {
  describe(`${mode} mode`, () => {
    promiseTest('door/list', mode, async () => {
      const { client } = await openMemoryServer({ mode, tools: registerAll });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(ADMITTED[mode]);
    });

    promiseTest(
      'process/modes',
      `${mode} opens a database if it reads, and writes if it admits tools that write`,
      () => {
        const access = TOOLS.filter(([name]) => ADMITTED[mode].includes(name)).flatMap(
          ([, declared]) => declared ?? [],
        );
        expect(admittedAccess(mode)).toEqual(access.filter((used) => used !== 'none'));
        expect(opensDatabase(mode)).toBe(access.includes('read'));
        expect(writesLedger(mode)).toBe(access.includes('write'));
      },
    );

    for (const [name] of TOOLS) {
      const isAdmitted = ADMITTED[mode].includes(name);
      promiseTest('chain/admission', `${mode} ${isAdmitted ? 'admits' : 'refuses'} a tool that ${name}`, async () => {
        const { client, sink } = await openMemoryServer({ mode, tools: registerAll });
        const { ok, error, isError } = await call(client, name);
        expect({ ok, isError }).toEqual({ ok: isAdmitted, isError: !isAdmitted });
        if (!isAdmitted) {
          expect(error?.code).toBe('TOOL_NOT_ADMITTED');
          expect(error?.message).toMatch(new RegExp(`${name} is not available in ${mode} mode.*COLIBRI_MODE=FULL`));
          expect(error?.details).toEqual({ tool: name, mode });
        }
        expect(sink.story).toEqual([`enter ${name}`, `exit ${name} ${isAdmitted ? 'ok' : 'TOOL_NOT_ADMITTED'}`]);
      });
    }
  });
}

describe('a tool that is not admitted', () => {
  promiseTest('chain/admission', 'before its input is validated', async () => {
    const { client } = await openMemoryServer({ mode: 'READONLY', tools: registerAll });
    expect((await call(client, 'writes', { wrong: '\ud800' })).error?.code).toBe('TOOL_NOT_ADMITTED');
  });

  promiseTest('chain/admission', 'the tool does not run', async () => {
    const write = vi.fn();
    const { client } = await openMemoryServer({
      mode: 'MINIMAL',
      tools: (register) => register('writes', write, { access: 'write' }),
    });
    await call(client, 'writes');
    expect(write).not.toHaveBeenCalled();
  });
});
