import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';
import { BAD_INPUTS } from './fixtures/bad-input.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-bad-input-'));
let server: TestServer;

beforeAll(async () => {
  server = await openServer(join(folder, 'colibri.db'));
  await server.createTask({ title: 'a task' });
});

afterAll(async () => {
  await assertWhole(server.database);
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Everything but the record of the calls themselves. */
const STORED = `SELECT (SELECT COUNT(*) FROM thoughts) + (SELECT COUNT(*) FROM sessions) + (SELECT COUNT(*) FROM session_events)
  + (SELECT COUNT(*) FROM ledger_entries WHERE entry NOT LIKE '%"kind":"action.%') + (SELECT SUM(value) FROM counters) AS stored`;

describe('bad input', () => {
  for (const { tool, defect, input, path } of BAD_INPUTS)
    promiseTest('trail/bad-input', `${tool}: ${defect}`, async () => {
      const before = await server.query(STORED);
      const { code, pattern, facts } = await server.refusal(tool, input);
      expect({ code, pattern }).toEqual({ code: 'INVALID_PARAMS', pattern: 'A' });
      const issues = facts['issues'] as { path: (string | number)[]; message: string }[];
      expect(issues.map((issue) => issue.path)).toContainEqual(path);
      for (const { message } of issues) expect(message).not.toBe('');
      expect(await server.query(STORED)).toEqual(before);
    });
});
