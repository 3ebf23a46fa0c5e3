import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEntry } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { badInputs, FIELDS_TRIED } from './fixtures/bad-input.ts';

const TABLES = ['tasks', 'task_versions', 'task_labels', 'task_dependencies', 'task_counts', 'counters', 'task_search'];

const details = z.strictObject({
  issues: z.array(z.strictObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string().min(1) })),
});

async function countRows(server: TestServer): Promise<unknown> {
  const counts = TABLES.map((table) => `(SELECT COUNT(*) FROM ${table}) AS ${table}`);
  return server.query(`SELECT ${counts.join(', ')}`);
}

const lastEntries = (server: TestServer, count: number) =>
  server.query<{ idx: number; entry: string }>('SELECT idx, entry FROM ledger_entries ORDER BY idx DESC LIMIT $1', [
    count,
  ]);

/** Refused with the path; the ledger grows by the pair of the call and by nothing else. */
async function expectRefused(server: TestServer, tool: string, input: Record<string, unknown>): Promise<unknown[][]> {
  const [before] = await lastEntries(server, 1);
  const rows = await countRows(server);
  const { pattern, code, facts } = await server.refusal(tool, input);
  expect({ pattern, code }).toEqual({ pattern: 'A', code: 'INVALID_PARAMS' });
  const entries = await lastEntries(server, 2);
  expect(entries.map(({ entry }) => parseEntry(entry)?.kind)).toEqual(['action.exit', 'action.enter']);
  expect(entries[1]?.idx).toBe((before?.idx ?? 0) + 1);
  expect(await countRows(server)).toEqual(rows);
  return details.parse(facts).issues.map(({ path }) => path);
}

describe('bad input', () => {
  for (const tool of Object.keys(FIELDS_TRIED)) {
    promiseTest('tasks/bad-input', `every defect of every field of ${tool}`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'the one that is there' });
        const before = await server.getTask({ task_id: 'T-0001' });
        const missed: unknown[] = [];
        for (const { defect, input, path } of badInputs(tool)) {
          const paths = await expectRefused(server, tool, input);
          const named = paths.some((candidate) => JSON.stringify(candidate) === JSON.stringify(path));
          if (!named) missed.push({ defect, path, paths });
        }
        expect(missed).toEqual([]);
        expect(await server.getTask({ task_id: 'T-0001' })).toEqual(before);
        expect((await server.createTask({ title: 'the next one' })).task_id).toBe('T-0002');
      }),
    );
  }

  it('every field that tools/list shows is covered', () =>
    withServer(async (server) => {
      const { tools } = await server.client.listTools();
      const shown = tools
        .filter(({ name }) => name.startsWith('task_'))
        .map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {}).toSorted()]);
      expect(Object.fromEntries(shown)).toEqual(FIELDS_TRIED);
    }));

  promiseTest('tasks/bad-input', 'every problem is listed, not only the first', () =>
    withServer(async (server) => {
      const input = { title: '', priority: 'x', labels: ['', 5], estimate_hours: -1, nonsense: 1, more: 2 };
      const paths = await expectRefused(server, 'task_create', input);
      expect(new Set(paths.map((path) => path.join('.')))).toEqual(
        new Set(['title', 'priority', 'labels.0', 'labels.1', 'estimate_hours', 'nonsense', 'more']),
      );
    }),
  );

  promiseTest('tasks/bad-input', 'an update without changes, and blocked without a reason', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'x', status: 'todo' });
      expect(await expectRefused(server, 'task_update', { task_id: 'T-0001' })).toEqual([[]]);
      expect(await expectRefused(server, 'task_update', { id: 'T-0001', patch: {} })).toEqual([[]]);
      const blocked = { task_id: 'T-0001', status: 'blocked' };
      expect(await expectRefused(server, 'task_update', blocked)).toEqual([['blocked_reason']]);
      expect(await expectRefused(server, 'task_update', { ...blocked, blocked_reason: ' ' })).toEqual([
        ['blocked_reason'],
      ]);
    }),
  );
});

describe('aliases of both older contracts', () => {
  promiseTest('tasks/aliases', 'id, project_id and patch', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'x', project_id: 'ours' });
      expect(await server.getTask({ id: 'T-0001' })).toMatchObject({ project: 'ours' });
      expect(await server.updateTask({ id: 'T-0001', patch: { status: 'todo', progress: 5 } })).toMatchObject({
        progress: 5,
      });
      expect((await server.listTasks({ project_id: 'ours' })).total_count).toBe(1);
      expect((await server.nextActions({ project_id: 'ours' })).count).toBe(1);
    }),
  );

  promiseTest('tasks/bad-input', 'the message names what is wrong with the field that was sent', () =>
    withServer(async (server) => {
      const says: readonly (readonly [string, Record<string, unknown>, string])[] = [
        ['task_create', { titel: 'x', title: 'y' }, 'task_create: titel: is not a field of this tool (use title)'],
        ['server_ping', { now: true }, 'server_ping: now: is not a field of this tool (it takes none)'],
        ['task_list', { limit: 1.5 }, 'task_list: limit: must be a whole number, not 1.5'],
        ['task_list', { search: [] }, 'task_list: search: must be a text, not a list'],
      ];
      for (const [tool, input, message] of says) expect((await server.refusal(tool, input)).message).toBe(message);
      const { message } = await server.refusal('task_list', { status: 'bogus' });
      expect(message).toMatch(/^task_list: status: must be one of backlog, /);
      expect((await server.refusal('task_list', { status: ['bogus'] })).message).toMatch(/^task_list: status\.0: must/);
    }),
  );

  promiseTest('tasks/bad-input', 'the message says what to send instead, for the usual slips of models', () =>
    withServer(async (server) => {
      const unpatched = 'patch: must be an object with the fields to change (or send these fields beside task_id)';
      const nothing = 'changes nothing: give at least one field';
      const slips: readonly (readonly [string, Record<string, unknown>, string])[] = [
        ...[5, 'x', null, ['x'], '{"status":"todo"}'].map(
          (patch) => ['task_update', { id: 'T-0001', patch }, `${unpatched}; ${nothing}`] as const,
        ),
        [
          'task_update',
          { patch: { task_id: 'T-0001', progress: 1 } },
          'patch: must not name the task (send task_id beside it)',
        ],
        [
          'task_update',
          { id: 'T-0001', title: 'a', patch: { title: 'b' } },
          'patch: repeats title (send each field once)',
        ],
        [
          'task_update',
          { id: 'T-0001', title: 'a', x: 1, patch: { x: 2 } },
          'patch: repeats a field (send each field once)',
        ],
        ['task_get', { id: 'T-0001', task_id: 'T-0001' }, 'id: is an alias of task_id (send one of them)'],
        ['task_get', { task_ids: ['T-0001'] }, 'task_ids: is not a field of this tool (use task_id)'],
        ['task_get', { task: 'T-0001' }, 'task: is not a field of this tool (use task_id)'],
        [
          'thought_record',
          { id: 'T-0001', type: 'risk', content: 'x' },
          'id: is not a field of this tool (use task_id)',
        ],
        ['merkle_root', { id: 'A-0001' }, 'id: is not a field of this tool (use session_id)'],
        ['task_get', { task_id: ['T-0001'] }, 'task_id: must be a text, not a list (send "T-0001")'],
        ['task_get', { task_id: ['T-0001', 'T-0002'] }, 'task_id: must be a text, not a list (make one call for each)'],
        [
          'task_create',
          { title: 'x', description: ['a', 'b'] },
          'description: must be a text, not a list (send one text)',
        ],
        ['task_list', { limit: '10' }, 'limit: must be a number, not a text (send 10 without quotes)'],
        ['task_get', { task_id: 'T-0001', include_dependents: 'true' }, 'not a text (send true without quotes)'],
        ['task_create', { title: 'x', labels: 'bug' }, 'labels: must be a list, not a text (send ["bug"])'],
        ['task_create', { title: 'x', labels: 'a, b' }, 'labels: must be a list, not a text (send a list of texts)'],
        ['task_create', { title: 'x', labels: '["a"]' }, 'not a text (send the list without quotes around it)'],
        ['task_create', { title: 'x', priority: 'HIGH' }, 'one of low, normal, high, critical (use high)'],
        ['task_update', { task_id: 'T-0001', status: 'In progress' }, 'DONE, CANCELLED (use in_progress)'],
        ['task_update', { task_id: 'T-0001', status: null }, 'DONE, CANCELLED, not null (omit it)'],
        [
          'task_update',
          { task_id: 'T-0001', status: 'blocked', blocked_reason: null },
          'task_update: blocked_reason: is required with status blocked: give the reason',
        ],
        [
          'thought_record',
          { content: 'x' },
          'type: is missing (use one of reflection, decision, discovery, risk, blockers)',
        ],
        ['skill_list', { capability: null }, 'capability: must be a text, not null (omit it)'],
      ];
      for (const [tool, input, message] of slips)
        expect(`${(await server.refusal(tool, input)).message};`).toContain(`${message};`);
    }),
  );

  promiseTest('tasks/bad-input', 'an input inside another object is asked for at the top level first', () =>
    withServer(async (server) => {
      const wrapped: readonly (readonly [string, Record<string, unknown>])[] = [
        ['task_create', { title: 'x' }],
        ['task_get', { task_id: 'T-0001' }],
        ['thought_record', { task_id: 'T-0001', type: 'decision', content: 'x' }],
        ['merkle_finalize', { session_id: 'A-0001' }],
      ];
      for (const [tool, input] of wrapped)
        for (const key of ['arguments', 'input', 'params'])
          expect((await server.refusal(tool, { [key]: input })).message).toContain(
            `${tool}: ${key}: is not a field of this tool (send its members at the top level); `,
          );
      const beside = { task_id: 'T-0001', type: 'decision', metadata: { content: 'x' } };
      expect((await server.refusal('thought_record', beside)).message).toBe('thought_record: content: is missing');
    }),
  );

  promiseTest('tasks/aliases', 'an alias beside its name is refused, and so is an alias of another tool', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'x' });
      await server.createTask({ title: 'y' });
      const refused: readonly (readonly [string, Record<string, unknown>, unknown[][]])[] = [
        ['task_get', { id: 'T-0001', task_id: 'T-0002' }, [['id']]],
        ['task_update', { id: 'T-0001', task_id: 'T-0002', progress: 1 }, [['id']]],
        ['task_update', { id: 'T-0001', progress: 1, patch: { progress: 2 } }, [['patch']]],
        ['task_update', { id: 'T-0001', patch: { id: 'T-0002', progress: 2 } }, [['patch']]],
        ['task_update', { patch: { task_id: 'T-0002', progress: 2 } }, [['task_id'], ['patch']]],
        ['task_update', { id: 'T-0001', patch: { project_id: 'ours' } }, [['project_id']]],
        ['task_update', { id: 'T-0001', patch: { patch: { progress: 1 } } }, [['patch']]],
        ['task_create', { patch: { title: 'x' } }, [['title'], ['patch']]],
        ['task_create', { title: 'x', id: 'T-0009' }, [['id']]],
        ['task_create', { title: 'x', project: 'a', project_id: 'a' }, [['project_id']]],
        ['task_list', { id: 'T-0001' }, [['id']]],
        ['task_get', { id: 7 }, [['task_id']]],
      ];
      for (const [tool, input, paths] of refused)
        expect(await expectRefused(server, tool, input)).toEqual(expect.arrayContaining([...paths]));
    }),
  );
});
