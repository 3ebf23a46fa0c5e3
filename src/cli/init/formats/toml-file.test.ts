import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { applyEdits, invertEdits } from './text-edit.ts';
import { tomlFormat } from './toml-file.ts';

const KEYS = ['mcp_servers', 'colibri'];
const ENTRY = { command: 'npx', args: ['-y', 'colibri-mcp'] };

const TEXTS: Record<string, string> = {
  'an empty file': '',
  settings: 'model = "x" # mine\n',
  'no line end': 'model = "x"',
  'another server': '[mcp_servers.a]\ncommand = "x"\n\n[mcp_servers.a.env]\nK = "v"\n',
  'an array of tables': '[[profiles]]\nname = "p"\n',
};

describe('TOML', () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    promiseTest('init/merges', `TOML, ${name}`, () => {
      const after = applyEdits(text, tomlFormat.add(text, KEYS, ENTRY));
      expect(after.startsWith(text)).toBe(true);
      expect(tomlFormat.find(after, KEYS)).toEqual(ENTRY);
    });

    promiseTest('init/undo', `TOML, ${name}`, () => {
      const edits = tomlFormat.add(text, KEYS, ENTRY);
      expect(applyEdits(applyEdits(text, edits), invertEdits(text, edits))).toBe(text);
    });
  }

  promiseTest('init/undo', 'TOML, with a later table after it', () => {
    const text = 'model = "x"\n';
    const after = `${applyEdits(text, tomlFormat.add(text, KEYS, ENTRY))}\n[later]\na = 1\n`;
    expect(applyEdits(after, tomlFormat.remove(after, KEYS, 0))).toBe(`${text}\n[later]\na = 1\n`);
  });

  promiseTest('init/merges', 'TOML, replaces a table and keeps the comments of the next one', () => {
    const text = '[mcp_servers.colibri]\ncommand = "old" # mine\n\n# the others\n[mcp_servers.a]\ncommand = "x"\n';
    expect(applyEdits(text, tomlFormat.replace(text, KEYS, ENTRY))).toBe(
      '[mcp_servers.colibri]\ncommand = "npx"\nargs = [ "-y", "colibri-mcp" ]\n\n# the others\n[mcp_servers.a]\ncommand = "x"\n',
    );
  });

  it.each([
    ['invalid TOML', 'model = '],
    ['a table twice', '[a]\n[a]\n'],
    ['an inline table of servers', 'mcp_servers = { a = { command = "x" } }\n'],
    ['servers that are a list', 'mcp_servers = []\n'],
  ])('refuses %s', (_name, text) => {
    expect(() => tomlFormat.add(text, KEYS, ENTRY)).toThrow(expect.objectContaining({ name: 'InitError' }) as Error);
  });

  it('refuses to remove an entry that init did not write', () => {
    const text = '[mcp_servers.colibri]\ncommand="npx"\n';
    expect(() => tomlFormat.remove(text, KEYS, 0)).toThrow(/by hand/);
  });
});
