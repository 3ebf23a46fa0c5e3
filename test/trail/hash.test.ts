import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ThoughtRow } from '../../src/domains/trail/repository.ts';
import { promiseTest } from '../support/promise-test.ts';
import { withServer } from '../support/test-server.ts';

const hex = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('a thought', () => {
  promiseTest('trail/hash', 'the hash can be computed by hand from the response', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      let previous: string | null = null;
      for (const content of ['plain', 'quotes " and \\', 'lines\nand\ttabs', 'é 字 🐦 \u2028', '</script>']) {
        const { hash, recorded_at, recorded_by } = await server.recordThought({
          task_id: 'T-0001',
          type: 'risk',
          content,
        });
        const text =
          `{"task_id":"T-0001","type":"risk","content":${JSON.stringify(content)},` +
          `"previous_hash":${previous === null ? 'null' : `"${previous}"`},` +
          `"recorded_at":"${recorded_at}","recorded_by":${JSON.stringify(recorded_by)}}`;
        expect(hash).toBe(hex(text));
        previous = hash;
      }
    }),
  );

  promiseTest('trail/extras', 'the entry holds the salted digest of the extras and the position of the thought', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const extras = {
        branch: 'main',
        commit_sha: 'a3f7d9b2c',
        tests_run: ['b', 'a'],
        blockers: [],
        metadata: { z: 1, a: { '\u{1F600}': true, '\uE000': null } },
      };
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'bare' });
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'full', ...extras });
      const rows = await server.query<ThoughtRow>('SELECT * FROM thoughts ORDER BY thought_no');
      const texts = [
        '{}',
        // The emoji sorts before the private character: by UTF-16 code units, not by code points.
        '{"blockers":[],"branch":"main","commit_sha":"a3f7d9b2c","metadata":{"a":{"\u{1F600}":true,"\uE000":null},"z":1},"tests_run":["b","a"]}',
      ];
      for (const [index, row] of rows.entries()) {
        const text = texts[index] ?? '';
        expect(row.extras).toBe(text);
        const digest = hex(
          Buffer.concat([Buffer.from('colibri:extras:v1\n'), Buffer.from(row.salt, 'hex'), Buffer.from(text)]),
        );
        const [logged] = await server.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [
          row.idx,
        ]);
        expect(JSON.parse(logged?.entry ?? '')).toEqual({
          v: 1,
          kind: 'thought',
          at: row.recorded_at,
          actor: 'tester',
          task_id: 'T-0001',
          thought_id: `\u0398-000${index + 1}`,
          hash: row.hash,
          extras: digest,
          chain_position: index + 1,
          attempt: 1,
          session_id: 'A-0001',
          session_seq: index + 1,
        });
      }
      expect(rows[0]?.salt).not.toBe(rows[1]?.salt);
    }),
  );

  promiseTest('trail/extras', 'content, extras and reason do not appear in the log', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'secret', reason: 'secret' });
      const words = { branch: 'secret', blockers: ['secret'], metadata: { secret: 'secret' } };
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'secret', ...words });
      await server.finalize({ session_id: 'A-0001' });
      expect(await server.query("SELECT idx FROM ledger_entries WHERE entry LIKE '%secret%'")).toEqual([]);
    }),
  );
});
