import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { createExporter } from '../../src/cli/notes/export-notes.ts';
import { openVault } from '../../src/cli/notes/vault/folder.ts';
import { LINE } from '../../src/cli/notes/vault/note-file.ts';
import { tempFolder } from '../support/folders.ts';
import type { TestServer } from '../support/test-server.ts';

/** A vault in a new folder, and the notes in it. */
export class TestVault {
  readonly root = openVault(join(tempFolder(), 'vault'), tempFolder());
  readonly #export = createExporter(this.root, new AbortController().signal);
  statements = 0;

  constructor(readonly server: Pick<TestServer, 'database'>) {}

  /** Exports like one command; with `isNew`, like another command that has read nothing yet. */
  async export(isNew = false, signal = new AbortController().signal) {
    const run = isNew ? createExporter(this.root, signal) : this.#export;
    this.statements = 0;
    return this.server.database.read((db) =>
      run({
        engine: db.engine,
        query: (sql, parameters) => {
          this.statements += 1;
          return db.query(sql, parameters);
        },
        queryStored: (sql, parameters) => db.queryStored(sql, parameters),
      }),
    );
  }

  path(note: string): string {
    return join(this.root, note);
  }

  read(note: string): string {
    return readFileSync(this.path(note), 'utf8');
  }

  list(): string[] {
    const paths = readdirSync(this.root, { recursive: true, encoding: 'utf8' });
    return paths
      .filter((path) => path.endsWith('.md'))
      .map((path) => path.replaceAll('\\', '/'))
      .toSorted();
  }

  /** Every note with its text. */
  content(): Record<string, string> {
    return Object.fromEntries(this.list().map((path) => [path, this.read(path)]));
  }

  /** Every note with the time at which it was written. */
  times(): Record<string, number> {
    return Object.fromEntries(this.list().map((path) => [path, statSync(this.path(path)).mtimeMs]));
  }
}

/** What every note must be: front matter that YAML reads, the line, and links that lead to notes. */
export function expectSound(vault: TestVault): void {
  for (const [path, text] of Object.entries(vault.content())) {
    const [, matter = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
    expect(parse(matter), path).toMatchObject({ colibri: expect.stringMatching(/^[0-9a-f-]{36}$/) as string });
    expect(
      body.split('\n').filter((line) => line === LINE),
      path,
    ).toHaveLength(1);
    for (const [, target] of text.matchAll(/\[\[([^|\]]*)\|[^\]]*\]\]/g))
      expect(statSync(vault.path(`${target}.md`), { throwIfNoEntry: false }), `${target} in ${path}`).toBeDefined();
    if (process.platform !== 'win32') expect(statSync(vault.path(path)).mode & 0o777, path).toBe(0o600);
  }
}

/** Makes a folder below another one. */
export function folderIn(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true });
  return path;
}
