import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { fixture, linesOf, withSession } from './recorded-session.ts';

const CLIENT = 'copilot-cli-1.0.102';
const lines = linesOf(fixture(`${CLIENT}.jsonl`));
const firstHalf = lines.slice(0, lines.length / 2);

describe('a transcript that its client writes late', () => {
  promiseTest('recorder/coverage', 'is read again until it has the calls that were observed', () =>
    withSession(async (session) => {
      const hooks = session.hooks(CLIENT);
      const path = String(hooks.map((payload) => payload['transcriptPath']).find(Boolean));
      session.write(path, firstHalf.join('\n'));
      session.report(...hooks);
      const ingested = session.ingest();
      setTimeout(() => session.write(path, lines.join('\n')), 20);
      await ingested;
      expect(await session.coverage()).toEqual([{ seen: 4, recorded: 4 }]);
    }),
  );

  promiseTest('recorder/coverage', 'is reported as it is if its client never completes it', () =>
    withSession(async (session) => {
      const hooks = session.hooks(CLIENT);
      const path = String(hooks.map((payload) => payload['transcriptPath']).find(Boolean));
      session.write(path, firstHalf.join('\n'));
      session.report(...hooks);
      await session.ingest();
      expect(await session.coverage()).toEqual([{ seen: 2, recorded: 2 }]);
    }),
  );
});
