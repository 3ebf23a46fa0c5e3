import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { withServer } from '../support/test-server.ts';

/** Texts that are taken, come back as they were, and verify. */
const KEPT: Readonly<Record<string, string>> = {
  'a line separator': 'a\u2028b\u2029c',
  'astral characters': '\u{1F426}\u{10FFFF}\u{20000}',
  'a composed letter': 'caf\u00e9',
  'a decomposed letter': 'cafe\u0301',
  'a byte order mark': '\uFEFFa\uFEFF',
  'characters that are none': 'a\uFFFE\uFFFF\uFDD0',
  'a replacement character': '\uFFFD',
  'right to left': '\u202Eabc\u202C',
  'nothing to see': 'a\u200B\u200D\uFE0F',
  'quotes and operators': `'; DROP TABLE thoughts; -- "$1" \\ %_`,
  'a family': '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}',
};

/** Texts that no field of one or more lines takes. */
const REFUSED: Readonly<Record<string, string>> = {
  'a null character': 'a\u0000b',
  'a high surrogate alone': 'a\ud83d',
  'a low surrogate alone': '\udc26a',
  'surrogates in the wrong order': '\udc26\ud83d',
  'a delete character': 'a\u007fb',
};

describe('strings that survive JSON but not every store', () => {
  for (const [name, text] of Object.entries(KEPT))
    promiseTest('trail/strings', `${name} is kept in every field`, () =>
      withServer(async (server) => {
        await server.createTask({ title: text, description: text, labels: [text], assignee: text });
        await server.startSession({ task_id: 'T-0001', auditor_id: text, reason: text });
        const extras = { branch: text, tests_run: [text], blockers: [text], metadata: { [text]: { [text]: [text] } } };
        await server.recordThought({ task_id: 'T-0001', type: 'decision', content: text, ...extras });
        await server.finalize({ session_id: 'A-0001' });
        expect((await server.listThoughts({ task_id: 'T-0001' })).thoughts[0]?.content).toBe(text);
        expect(await server.verifyChain({ task_id: 'T-0001', session_id: 'A-0001' })).toMatchObject({
          integrity_score: 100,
        });
        const [row] = await server.query<{ extras: string }>('SELECT extras FROM thoughts');
        expect(JSON.parse(row?.extras ?? '')).toEqual(extras);
        expect(await server.query('SELECT auditor_id, reason FROM sessions')).toEqual([
          { auditor_id: text, reason: text },
        ]);
      }),
    );

  for (const [name, text] of Object.entries(REFUSED))
    promiseTest('trail/strings', `${name} is refused in every field`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'a task' });
        const session = { task_id: 'T-0001', auditor_id: 'auditor' };
        const thought = { task_id: 'T-0001', type: 'decision', content: 'Because.' };
        await server.startSession(session);
        const inputs: [string, object][] = [
          ['task_create', { title: text }],
          ['task_create', { title: 'x', description: text }],
          ['audit_session_start', { ...session, auditor_id: text }],
          ['audit_session_start', { ...session, reason: text }],
          ['thought_record', { ...thought, content: text }],
          ['thought_record', { ...thought, branch: text }],
          ['thought_record', { ...thought, tests_run: [text] }],
          ['thought_record', { ...thought, blockers: [text] }],
        ];
        for (const [tool, input] of inputs)
          expect(await server.refusal(tool, { ...input })).toMatchObject({ code: 'INVALID_PARAMS' });
        expect((await server.listThoughts({})).thought_count).toBe(0);
      }),
    );

  promiseTest('trail/strings', 'metadata keeps every character of JSON, in keys too', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const metadata: Record<string, unknown> = { 'a\u0000b': 'c\u0000d', '\u007f\u0085': '\u0001', '': '' };
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'Because.', metadata });
      const [row] = await server.query<{ extras: string }>('SELECT extras FROM thoughts');
      expect(JSON.parse(row?.extras ?? '')).toEqual({ metadata });
      for (const broken of [{ '\ud800': 1 }, { a: '\udc00' }, { a: [{ '\udfff': 1 }] }])
        expect(
          await server.refusal('thought_record', {
            task_id: 'T-0001',
            type: 'decision',
            content: 'x',
            metadata: broken,
          }),
        ).toMatchObject({ code: 'INVALID_PARAMS' });
    }),
  );

  promiseTest('trail/strings', 'reserved JavaScript names are plain keys in metadata', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const text = '{"__proto__":{"a":1},"constructor":2,"nested":{"__proto__":3,"toString":4}}';
      const thought = {
        task_id: 'T-0001',
        type: 'decision',
        content: 'Because.',
        metadata: JSON.parse(text) as object,
      };
      await server.recordThought(thought).catch(async () => {
        // Refusing is honest too; losing the name would not be.
        expect((await server.refusal('thought_record', thought)).code).toBe('INVALID_PARAMS');
      });
      for (const { extras } of await server.query<{ extras: string }>('SELECT extras FROM thoughts'))
        expect(extras).toBe(`{"metadata":${text}}`);
    }),
  );

  promiseTest('trail/strings', 'texts that only look equal stay different', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      for (const content of ['caf\u00e9', 'cafe\u0301'])
        await server.recordThought({ task_id: 'T-0001', type: 'decision', content });
      const { thoughts } = await server.listThoughts({});
      expect(new Set(thoughts.map(({ content }) => content)).size).toBe(2);
      expect(new Set(thoughts.map(({ hash }) => hash)).size).toBe(2);
    }),
  );

  for (const name of ['a\u0000b', 'bell\u0007', `${'x'.repeat(127)}\u{1F426}`, '\uFEFFclient', '\u2028'])
    promiseTest('trail/strings', `the record of a client named ${JSON.stringify(name)} verifies`, () =>
      withServer(
        async (server) => {
          await server.createTask({ title: 'a task' });
          await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
          await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'Because.' });
          await server.client.callTool({ name: `tool${name}`, arguments: {} }).catch(() => undefined);
          expect(await server.verifyChain({ task_id: 'T-0001' })).toMatchObject({ integrity_score: 100 });
        },
        { clientName: name },
      ),
    );
});
