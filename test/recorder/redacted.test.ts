import { describe, expect } from 'vitest';
import { redactEntry } from '../../src/cli/redaction/redact-entry.ts';
import { promiseTest } from '../support/promise-test.ts';
import { fixture, withSession } from './recorded-session.ts';

describe('a call without an id', () => {
  promiseTest('recorder/coverage', 'is no gap after its event was redacted', () =>
    withSession(async (session) => {
      const hooks = session.hooks('gemini-cli-0.61.0');
      session.write(String(hooks[0]?.['transcript_path']), fixture('gemini-cli-0.61.0.jsonl'));
      session.report(...hooks);
      await session.ingest();
      const decision = { reason: 'a secret', actor: 'person:alice', at: new Date().toISOString() };
      for (const { idx } of await session.server.query<{ idx: number }>(
        "SELECT idx FROM observations WHERE content LIKE '%echo hi%' ORDER BY idx",
      ))
        await session.server.database.write({ durable: false }, (db) => redactEntry(db, idx, decision));
      session.report(hooks.at(-1) as object);
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 4, recorded: 4 }]);
    }),
  );
});
