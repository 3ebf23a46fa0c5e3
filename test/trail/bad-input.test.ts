import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { BAD_INPUTS } from '../support/fixtures/trail-bad-input.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openDesk, type TrailDesk } from '../support/trail-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-bad-input-'));
let desk: TrailDesk;

beforeAll(async () => {
  desk = await openDesk(join(folder, 'colibri.db'));
  await desk.createTask({ title: 'a task' });
});

afterAll(async () => {
  await assertWhole(desk.database);
  await desk.close();
  rmSync(folder, { recursive: true });
});

/** Everything but the record of the calls themselves. */
const STORED = `SELECT (SELECT COUNT(*) FROM thoughts) + (SELECT COUNT(*) FROM sessions) + (SELECT COUNT(*) FROM session_events)
  + (SELECT COUNT(*) FROM ledger_entries WHERE kind NOT LIKE 'action.%') + (SELECT SUM(value) FROM counters) AS stored`;

describe('bad input', () => {
  for (const { tool, defect, input, path } of BAD_INPUTS)
    promiseTest('trail/bad-input', `${tool}: ${defect}`, async () => {
      const before = await desk.query(STORED);
      const { code, pattern, facts } = await desk.refusal(tool, input);
      expect({ code, pattern }).toEqual({ code: 'INVALID_PARAMS', pattern: 'A' });
      const issues = facts['issues'] as { path: (string | number)[]; message: string }[];
      expect(issues.map((issue) => issue.path)).toContainEqual(path);
      for (const { message } of issues) expect(message).not.toBe('');
      expect(await desk.query(STORED)).toEqual(before);
    });
});
