import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { jsoncFormat } from './jsonc-file.ts';
import { applyEdits, invertEdits } from './text-edit.ts';

const KEYS = ['mcpServers', 'colibri'];
const ENTRY = { command: 'npx', args: ['-y', 'colibri-mcp'] };

function add(text: string): string {
  return applyEdits(text, jsoncFormat.add(text, KEYS, ENTRY));
}

/** Other servers, written in the ways that people and editors write. */
const FULL: Record<string, string> = {
  'two spaces': '{\n  "mcpServers": {\n    "a": {"command": "x"}\n  }\n}\n',
  tabs: '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n',
  'Windows line ends': '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
  'one line': '{"mcpServers": {"a": {}}, "other": 1}',
  'one line with a trailing comma': '{"mcpServers": {"a": {},}}',
  'a comment beside the last server': '{\n  "mcpServers": {\n    "a": {} // mine\n  }\n}\n',
  'comments everywhere':
    '// top\n{ // open\n  /* k */ "mcpServers" /* c */: { // in\n    // above\n    "a": {}, // beside\n    // below\n  } // out\n} // end\n',
  'a comment before a comma': '{\n  "mcpServers": {\n    "a": {} /* , */ ,\n    "b": {} /* , */\n  }\n}\n',
  'no line end': '{\n  "mcpServers": {\n    "a": {}\n  }\n}',
  'a closing brace beside the last server': '{\n  "mcpServers": {\n    "a": {},\n    "b": {} } }\n',
  'keys after': '{\n    "mcpServers": {\n        "a": {}\n    },\n    "z": [1, 2]\n}\n',
  'an escaped name': '{\n  "mcpServers": {\n    "a\\"}": {"x": "// no comment"}\n  }\n}\n',
};

/** Texts without another server. */
const EMPTY: Record<string, string> = {
  'an empty object': '{}',
  'an empty object with room': '{\n}\n',
  'no servers': '{\n  "mcpServers": {}\n}\n',
  'no servers but a comment': '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
  'other settings': '{\n  "theme": "dark" // my eyes\n}\n',
  'other settings and a trailing comma': '{\n  "theme": "dark",\n}\n',
  'an empty file': '',
  'blank lines': '\n\n',
};

describe('JSON with comments', () => {
  for (const [name, text] of Object.entries({ ...FULL, ...EMPTY })) {
    promiseTest('init/merges', name, () => {
      const after = add(text);
      expect(jsoncFormat.find(after, KEYS)).toEqual(ENTRY);
      expect(commentsOf(after)).toEqual(commentsOf(text));
      const others = text.match(/"[az]\\?[^:]*?": ?[^\n,}]+/g) ?? [];
      for (const other of others) expect(after).toContain(other);
    });

    promiseTest('init/undo', name, () => {
      const edits = jsoncFormat.add(text, KEYS, ENTRY);
      expect(applyEdits(applyEdits(text, edits), invertEdits(text, edits))).toBe(text);
    });
  }

  for (const [name, text] of Object.entries(FULL)) {
    promiseTest('init/undo', `${name}, without a record`, () => {
      const after = add(text);
      expect(applyEdits(after, jsoncFormat.remove(after, KEYS, 0))).toBe(text);
    });
  }

  for (const [open, close] of [
    ['{"a":', '}'],
    ['[', ']'],
  ] as const)
    promiseTest('init/merges', `refuses a file with 100,000 levels of ${open}, and keeps one with 90`, () => {
      const nested = (levels: number) => `{"a":${open.repeat(levels)}0${close.repeat(levels)}}`;
      expect(() => jsoncFormat.find(nested(100_000), ['a'])).toThrow('nested more than 100 levels');
      expect(() => jsoncFormat.find(`{"a":${open.repeat(100_000)}`, ['a'])).toThrow('nested more than 100 levels');
      expect(jsoncFormat.find(nested(90), ['a'])).toBeDefined();
    });

  promiseTest('init/merges', 'keeps a comment beside its property', () => {
    expect(add('{\n  "mcpServers": {\n    "a": {} // mine\n  }\n}\n')).toContain('"a": {}, // mine\n');
  });

  promiseTest('init/undo', 'keeps a property after the entry', () => {
    const text = '{"mcpServers": {\n  // c\n  "colibri": {}, "b": 1 }}';
    expect(applyEdits(text, jsoncFormat.remove(text, KEYS, 0))).toBe('{"mcpServers": {\n  // c\n   "b": 1 }}');
  });

  promiseTest('init/undo', 'removes enclosing objects only if they hold nothing else', () => {
    const [alone, together] = ['{"mcpServers": {"colibri": {}}}', '{"mcpServers": {"colibri": {}, "b": {}}}'];
    expect(applyEdits(alone, jsoncFormat.remove(alone, KEYS, 1))).toBe('{}');
    expect(applyEdits(alone, jsoncFormat.remove(alone, KEYS, 0))).toBe('{"mcpServers": {}}');
    expect(JSON.parse(applyEdits(together, jsoncFormat.remove(together, KEYS, 1)))).toEqual({ mcpServers: { b: {} } });
  });

  it.each([
    ['truncated text', '{"mcpServers": {'],
    ['two values', '{} {}'],
    ['no object', '[]'],
    ['a bare word', 'colibri'],
    ['a missing comma', '{"a": 1 "b": 2}'],
    ['an open comment', '{} /* '],
    ['an open string', '{"a": "b}'],
    ['servers that are a list', '{"mcpServers": []}'],
    ['servers that are null', '{"mcpServers": null}'],
    ['white space that is not of JSON', '\u2028'],
    ['servers twice', '{"mcpServers": {}, "mcpServers": {}}'],
  ])('refuses %s', (_name, text) => {
    expect(() => {
      if (jsoncFormat.find(text, KEYS) === undefined) jsoncFormat.add(text, KEYS, ENTRY);
    }).toThrow(expect.objectContaining({ name: 'InitError' }) as Error);
  });
});

function commentsOf(text: string): string[] {
  return text.replaceAll(/"(?:\\.|[^"\\])*"/g, '""').match(/\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g) ?? [];
}
