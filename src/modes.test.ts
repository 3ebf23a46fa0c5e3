import { describe, expect, vi } from 'vitest';
import { call, openDoor, type Register } from '../test/support/memory-server.ts';
import { promiseTest } from '../test/support/promise-test.ts';
import { type LedgerAccess, MODES, type Mode } from './modes.ts';

const ADMITTED: Record<Mode, string[]> = {
  FULL: ['asks_none', 'reads', 'writes', 'says_nothing'],
  READONLY: ['asks_none', 'reads'],
  TEST: ['asks_none', 'reads', 'writes', 'says_nothing'],
  MINIMAL: ['asks_none'],
};

const TOOLS: [string, LedgerAccess | undefined][] = [
  ['asks_none', 'none'],
  ['reads', 'read'],
  ['writes', 'write'],
  ['says_nothing', undefined],
];

function registerAll(register: Register): void {
  // `undefined` in place of the helper's own default, so that the tool says nothing.
  for (const [name, access] of TOOLS) register(name, undefined, { access } as { access: LedgerAccess });
}

for (const mode of MODES) {
  describe(`${mode} mode`, () => {
    promiseTest('door/list', mode, async () => {
      const { client } = await openDoor({ mode, tools: registerAll });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(ADMITTED[mode]);
    });

    for (const [name] of TOOLS) {
      const isAdmitted = ADMITTED[mode].includes(name);
      promiseTest('chain/admission', `${mode} ${isAdmitted ? 'admits' : 'refuses'} a tool that ${name}`, async () => {
        const { client, sink } = await openDoor({ mode, tools: registerAll });
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
  promiseTest('chain/admission', 'before its input is looked at', async () => {
    const { client } = await openDoor({ mode: 'READONLY', tools: registerAll });
    expect((await call(client, 'writes', { wrong: '\ud800' })).error?.code).toBe('TOOL_NOT_ADMITTED');
  });

  promiseTest('chain/admission', 'and does not run', async () => {
    const write = vi.fn();
    const { client } = await openDoor({
      mode: 'MINIMAL',
      tools: (register) => register('writes', write, { access: 'write' }),
    });
    await call(client, 'writes');
    expect(write).not.toHaveBeenCalled();
  });
});
