import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { parseJson } from '../../../integrity/index.ts';
import { InitError } from '../init-error.ts';
import type { ConfigFormat, ServerEntry } from './config-format.ts';
import { applyEdits, type TextEdit } from './text-edit.ts';

/** TOML. The entry is a separate table at the end of the file, so that no other line changes. */
export const tomlFormat: ConfigFormat = {
  find: (text, keys) => at(read(text), keys),

  add: (text, keys, entry) => {
    const before = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    const edits = [{ offset: text.length, length: 0, content: before + table(keys, entry) }];
    assertOnlyChange(text, edits, keys, entry);
    return edits;
  },

  replace: (text, keys, entry) => {
    const { start, end } = findTables(text, keys);
    const edits = [{ offset: start, length: end - start, content: table(keys, entry) }];
    assertOnlyChange(text, edits, keys, entry);
    return edits;
  },

  remove: (text, keys) => {
    const entry = at(read(text), keys) as ServerEntry;
    const own = table(keys, entry);
    const offset = text.indexOf(own);
    if (offset === -1)
      throw new InitError(`has a table [${keys.join('.')}] that init did not write`, { advice: 'remove it by hand' });
    const start = text.endsWith('\n\n', offset) || offset === 1 ? offset - 1 : offset;
    const edits = [{ offset: start, length: offset - start + own.length, content: '' }];
    assertOnlyChange(text, edits, keys, undefined);
    return edits;
  },
};

function table(keys: readonly string[], entry: ServerEntry | readonly ServerEntry[]): string {
  return `[${keys.join('.')}]\n${Object.entries(entry).map(assignment).join('')}`;
}

/** An object is written inline, so that the entry is one table. */
function assignment([key, value]: readonly [string, unknown]): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return stringify({ [key]: value });
  const members = Object.entries(value).map((member) => assignment(member).trimEnd());
  return `${key} = { ${members.join(', ')} }\n`;
}

/** The lines from the header of a table to the last line of its own and of the tables inside it. */
function findTables(text: string, keys: readonly string[]): { start: number; end: number } {
  const name = keys.join('.');
  const headers = [...text.matchAll(/^[ \t]*\[\[?[ \t]*([^\]\n]+?)[ \t]*\]\]?.*$/gm)];
  const isInside = (header: string | undefined) => header === name || header?.startsWith(`${name}.`) === true;
  const first = headers.findIndex(([, header]) => isInside(header));
  const next = headers.slice(first).find(([, header]) => !isInside(header));
  const start = headers[first]?.index;
  if (start === undefined) throw new InitError('cannot be edited safely', { advice: 'edit it by hand' });
  // Comments below it belong to the next table.
  const lines = text.slice(start, next?.index).split('\n');
  const last = lines.findLastIndex((line) => !/^\s*(?:#|$)/.test(line));
  const end = lines.slice(0, last + 1).join('\n').length;
  return { start, end: Math.min(start + end + 1, text.length) };
}

function read(text: string): unknown {
  try {
    return parseJson(JSON.stringify(parse(text)));
  } catch (error) {
    throw new InitError(String(error instanceof Error ? error.message : error).split('\n')[0] ?? 'is not TOML');
  }
}

function at(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], value);
}

function assertOnlyChange(text: string, edits: TextEdit[], keys: readonly string[], entry: unknown): void {
  const after = read(applyEdits(text, edits));
  const [table = '', name = ''] = keys;
  const withoutEntry = (value: unknown) => {
    const servers = { ...(at(value, [table]) as object | undefined), [name]: undefined };
    return parseJson(JSON.stringify({ ...(value as object), [table]: servers }));
  };
  if (isDeepStrictEqual(at(after, keys), entry) && isDeepStrictEqual(withoutEntry(after), withoutEntry(read(text))))
    return;
  throw new InitError('cannot be edited safely', { advice: 'edit it by hand' });
}
