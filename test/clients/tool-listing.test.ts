import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { openCurrent } from './official-clients.ts';

const MAX_TOKENS = 2500;

describe('the tool listing that a client passes to its model', () => {
  promiseTest('clients/tool-listing', `all 14 tools in at most ${MAX_TOKENS} tokens`, async () => {
    const client = await openCurrent({
      command: process.execPath,
      args: [resolve('dist/colibri.cjs')],
      cwd: tmpdir(),
      env: { COLIBRI_MODE: 'TEST' },
    });
    const tools = await client.listTools();
    await client.close();
    expect(tools).toHaveLength(14);
    const tokens = tools.map(({ name, description, inputSchema }) =>
      countTokens(JSON.stringify({ name, description, inputSchema })),
    );
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_TOKENS);
  });
});
