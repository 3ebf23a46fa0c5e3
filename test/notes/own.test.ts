import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { LINE } from '../../src/cli/notes/vault/note-file.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { TestVault } from './vault.ts';

const NOTE = 'tasks/T-0001.md';

function withVault(work: (vault: TestVault, server: TestServer) => Promise<void>): Promise<void> {
  return withServer(async (server) => {
    await server.createTask({ title: 'One', status: 'todo' });
    await server.createTask({ title: 'Two', status: 'todo' });
    const vault = new TestVault(server);
    await vault.export();
    await work(vault, server);
  });
}

/** Changes the task and exports. */
async function change(vault: TestVault, server: TestServer, title = 'Changed') {
  await server.updateTask({ task_id: 'T-0001', title });
  return vault.export(true);
}

describe('what a person wrote', () => {
  const TEXTS = {
    'a line': 'Ask Ada.\n',
    'no line break at the end': 'Ask Ada.',
    'line breaks of Windows': 'one\r\ntwo\r\n',
    'the line again': `copied:\n${LINE}\nmore\n`,
    'front matter': '---\ncolibri: other\n---\n',
    'bytes that Colibri did not write': '\u0000\u202e\ufeff🧾\n\n\n',
  };
  for (const [what, text] of Object.entries(TEXTS))
    promiseTest('notes/own', `stays below the line: ${what}`, () =>
      withVault(async (vault, server) => {
        appendFileSync(vault.path(NOTE), text);
        for (const title of ['Three', 'Four']) {
          expect((await change(vault, server, title)).left_alone).toEqual([]);
          const [above = '', ...below] = vault.read(NOTE).split(`${LINE}\n`);
          expect(above).toContain(`# T-0001 ${title}`);
          expect(below.join(`${LINE}\n`)).toBe(text);
        }
      }),
    );

  promiseTest('notes/own', 'stays in the front matter, beside the properties of the record', () =>
    withVault(async (vault, server) => {
      const own = 'tags:\n  - mine\n  - keys\nreviewer: Ada\n# a comment\nrating: 5';
      // Obsidian writes properties without quotes, and some editors begin a file with a mark.
      const edited = vault
        .read(NOTE)
        .replace('\n---\n', `\n${own}\n---\n`)
        .replace(/^colibri: "(.*)"$/m, 'colibri: $1');
      writeFileSync(vault.path(NOTE), `\ufeff${edited.replaceAll('\n', '\r\n')}`);
      expect((await change(vault, server)).left_alone).toEqual([]);
      const text = vault.read(NOTE);
      expect(text).toContain(`\n${own}\n---\n`);
      expect(text.match(/^title:/gm)).toHaveLength(1);
      const { mtimeMs } = statSync(vault.path(NOTE));
      rmSync(vault.path('.colibri-notes.json'));
      expect((await vault.export(true)).written).toBe(0);
      expect(statSync(vault.path(NOTE)).mtimeMs).toBe(mtimeMs);
    }),
  );

  promiseTest('notes/own', 'is marked and kept when the ledger has lost the record', () =>
    withVault(async (vault, server) => {
      const text = vault.read(NOTE).replaceAll('T-0001', 'T-0099');
      writeFileSync(vault.path('tasks/T-0099.md'), `${text}my text\n`);
      writeFileSync(vault.path('tasks/mine.md'), 'my own note\n');
      rmSync(vault.path('.colibri-notes.json'));
      await change(vault, server);
      const gone = vault.read('tasks/T-0099.md');
      expect(gone).toContain('gone: true');
      expect(gone).toContain('The ledger no longer has this record.');
      expect(gone.endsWith(`${LINE}\nmy text\n`)).toBe(true);
      expect(vault.read('tasks/mine.md')).toBe('my own note\n');
    }),
  );
});

describe('a file that is not from this ledger', () => {
  const FILES: Readonly<Record<string, readonly [text: string | Buffer, reason: RegExp]>> = {
    'a note of a person': ['# My own task list\n', /is not from Colibri/],
    'a note with front matter': ['---\ntitle: mine\n---\ntext\n', /is not from Colibri/],
    'an empty file': ['', /is not from Colibri/],
    'a note of another ledger': [
      `---\ncolibri: 12345678-1234-4234-8234-123456789abc\n---\n${LINE}\n`,
      /another ledger/,
    ],
    'bytes that are not UTF-8': [Buffer.from([0xff, 0xfe, 0x00]), /cannot be read/],
    'a huge file': [Buffer.alloc(17 * 1024 * 1024), /is larger than/],
  };
  for (const [what, [text, reason]] of Object.entries(FILES))
    promiseTest('notes/own', `${what} is left alone, with a warning at each export`, () =>
      withVault(async (vault, server) => {
        writeFileSync(vault.path(NOTE), text);
        const { mtimeMs } = statSync(vault.path(NOTE));
        const expected = [{ path: NOTE, reason: expect.stringMatching(reason) as string }];
        expect((await change(vault, server)).left_alone).toEqual(expected);
        expect(await vault.export(true)).toMatchObject({ written: 0, left_alone: expected });
        expect(statSync(vault.path(NOTE)).mtimeMs).toBe(mtimeMs);
        rmSync(vault.path(NOTE));
        expect(await vault.export(true)).toMatchObject({ written: 1, left_alone: [] });
        expect(vault.read(NOTE)).toContain('# T-0001 Changed');
      }),
    );

  promiseTest('notes/own', 'a note without the line is left alone', () =>
    withVault(async (vault, server) => {
      const text = `${vault.read(NOTE).replace(LINE, '')}my text\n`;
      writeFileSync(vault.path(NOTE), text);
      expect((await change(vault, server)).left_alone[0]?.reason).toContain('has lost the line');
      expect(vault.read(NOTE)).toBe(text);
    }),
  );

  promiseTest('notes/own', 'a link and a folder are left alone', () =>
    withVault(async (vault, server) => {
      const outside = join(tempFolder(), 'outside.md');
      writeFileSync(outside, vault.read(NOTE));
      rmSync(vault.path(NOTE));
      symlinkSync(outside, vault.path(NOTE));
      const before = readFileSync(outside);
      rmSync(vault.path('tasks/T-0002.md'));
      mkdirSync(vault.path('tasks/T-0002.md'));
      const { left_alone } = await change(vault, server);
      expect(left_alone).toEqual([{ path: NOTE, reason: 'is not a regular file' }]);
      rmSync(vault.path('.colibri-notes.json'));
      expect((await vault.export(true)).left_alone.map(({ path }) => path)).toEqual([NOTE, 'tasks/T-0002.md']);
      expect(readFileSync(outside)).toEqual(before);
    }),
  );

  promiseTest('notes/own', 'a vault of another ledger is refused', () =>
    withVault((vault) =>
      withServer(async (other) => {
        const before = vault.content();
        const elsewhere = new TestVault(other);
        await elsewhere.export();
        const state = readFileSync(vault.path('.colibri-notes.json'));
        writeFileSync(elsewhere.path('.colibri-notes.json'), state);
        await expect(elsewhere.export(true)).rejects.toThrow('has the notes of another ledger');
        expect(vault.content()).toEqual(before);
      }),
    ),
  );

  for (const state of ['', '{}', '[]', 'null', '{"format":1', '{"format":99}'])
    promiseTest('notes/own', `a damaged state file (${state || 'empty'}) costs only a comparison`, () =>
      withVault(async (vault) => {
        writeFileSync(vault.path('.colibri-notes.json'), state);
        expect(await vault.export(true)).toMatchObject({ written: 0, left_alone: [] });
      }),
    );
});
