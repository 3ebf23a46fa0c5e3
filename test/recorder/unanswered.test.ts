import { describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { promiseTest } from '../support/promise-test.ts';
import type { TestServer } from '../support/test-server.ts';
import { readObserved, shell, update, withSpool } from './spooled-server.ts';

const begun = (tool_use_id: string, more: object = {}) => ({
  ...shell('sleep 9'),
  tool_response: undefined,
  hook_event_name: 'PreToolUse',
  tool_use_id,
  ...more,
});
const mcp = { tool_name: 'mcp__colibri__task_update', tool_input: { task_id: 'T-9999' } };

async function readEvents(server: TestServer): Promise<string[]> {
  const rows = await server.query('SELECT entry FROM ledger_entries ORDER BY idx');
  return rows.flatMap(({ entry }) => {
    const { kind, event, call_id, outcome } = parseEntry(String(entry)) as unknown as Record<string, string>;
    return kind === 'observed' ? [`${event} ${call_id ?? ''} ${outcome ?? ''}`.trim()] : [];
  });
}

describe('a call that began', () => {
  promiseTest('recorder/unanswered', 'as failed if it is one of MCP, else as unknown, with what it was', () =>
    withSpool(async ({ server, spool, report }) => {
      report(begun('a'));
      report({ ...shell('sleep 9'), tool_use_id: 'a' });
      report(begun('b'));
      report(begun('c', mcp));
      report(begun('d', { agent_id: 'sub' }));
      report({ ...begun('e'), session_id: 's-2' });
      report({ hook_event_name: 'Stop', tool_use_id: 'stop' });
      await ingest(server.database, spool);
      expect((await readEvents(server)).slice(6)).toEqual(['unanswered b unknown', 'unanswered c failed', 'Stop stop']);
      const [stored] = await server.query(
        `SELECT observations.content AS content FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx
         WHERE entry LIKE '%"unanswered"%' ORDER BY observations.idx LIMIT 1`,
      );
      expect(stored?.['content']).toBe('{"command":"sleep 9"}');
      report({ hook_event_name: 'SubagentStop', tool_use_id: 'sub', agent_id: 'sub' });
      report({ hook_event_name: 'SessionEnd', tool_use_id: 'end' });
      await ingest(server.database, spool);
      expect((await readEvents(server)).slice(9)).toEqual([
        'unanswered d unknown',
        'SubagentStop sub',
        'SessionEnd end',
      ]);
    }),
  );

  promiseTest('recorder/unanswered', 'under the task of its beginning, though the session has given it up since', () =>
    withSpool(async ({ server, spool, report }) => {
      await server.call('task_create', { title: 'One', status: 'todo' });
      report(update('T-0001', 'in_progress'));
      report(begun('a', mcp));
      report(update('T-0001', 'review'));
      report({ hook_event_name: 'Stop', tool_use_id: 'stop' });
      await ingest(server.database, spool);
      expect((await readObserved(server)).map(([tool, ...tasks]) => [tool, ...tasks.slice(0, 2)]).slice(1)).toEqual([
        ['mcp__colibri__task_update', 'T-0001', 'T-0001'],
        ['mcp__colibri__task_update', 'T-0001', undefined],
        ['mcp__colibri__task_update', 'T-0001', undefined],
        [undefined, undefined, undefined],
      ]);
    }),
  );

  promiseTest('recorder/unanswered', 'a report that comes after the stop is recorded too', () =>
    withSpool(async ({ server, spool, report }) => {
      report(begun('__proto__'));
      report(begun('late'));
      report({ hook_event_name: 'Stop', tool_use_id: 'stop' });
      await ingest(server.database, spool);
      report({ ...shell('sleep 9'), hook_event_name: 'PostToolUseFailure', error: 'Exit code 3', tool_use_id: 'late' });
      report({ hook_event_name: 'SessionEnd', tool_use_id: 'end' });
      await ingest(server.database, spool);
      expect(await readEvents(server)).toEqual([
        'PreToolUse __proto__',
        'PreToolUse late',
        'unanswered __proto__ unknown',
        'unanswered late unknown',
        'Stop stop',
        'PostToolUseFailure late failed',
        'SessionEnd end',
      ]);
    }),
  );
});
