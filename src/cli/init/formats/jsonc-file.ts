import { isDeepStrictEqual } from 'node:util';
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { parseJson } from '../../../integrity/index.ts';
import { InitError } from '../init-error.ts';
import type { ConfigFormat, ServerEntry } from './config-format.ts';
import { formatJson } from './json-text.ts';
import { insertItem, insertProperty, removeMember, removeProperty, replaceValue } from './jsonc-edit.ts';
import { applyEdits, type TextEdit } from './text-edit.ts';

const MAX_DEPTH = 100;

/** JSON, with the comments and trailing commas that editors allow. */
export const jsoncFormat: ConfigFormat = {
  find: (text, keys) => {
    const node = findNode(parse(text), keys);
    return node && plain(getNodeValue(node));
  },

  add: (text, keys, entry) => {
    const root = parse(text);
    if (root === undefined) return [{ offset: text.length, length: 0, content: newFile(keys, entry) }];
    const depth = keys.findIndex((_key, index) => findNode(root, keys.slice(0, index + 1)) === undefined);
    const parent = findNode(root, keys.slice(0, depth));
    const [key, ...below] = keys.slice(depth);
    if (parent === undefined || key === undefined) throw new Error(`${keys.join('.')} already exists`);
    const edits = insertProperty(text, parent, key, nest(below, entry));
    assertOnlyChange(text, edits, keys, entry);
    return edits;
  },

  replace: (text, keys, entry) => {
    const node = findNode(parse(text), keys);
    if (node === undefined) throw new Error(`${keys.join('.')} does not exist`);
    const edits = replaceValue(text, node, entry);
    assertOnlyChange(text, edits, keys, entry);
    return edits;
  },

  remove: (text, keys, emptied) => {
    const root = parse(text);
    let path = keys;
    for (let level = 0; level < emptied; level += 1) {
      const parent = findNode(root, path.slice(0, -1));
      if (path.length === 1 || parent?.children?.length !== 1) break;
      path = path.slice(0, -1);
    }
    const parent = findNode(root, path.slice(0, -1));
    const key = path.at(-1);
    if (parent === undefined || key === undefined) return [];
    const edits = removeProperty(text, parent, key);
    assertOnlyChange(text, edits, path, undefined);
    return edits;
  },
};

/** The items of a list; none if there is no value at these keys. */
export function findItems(text: string, keys: readonly string[]): unknown[] {
  const list = findList(text, keys);
  return (list?.children ?? []).map((item) => plain(getNodeValue(item)));
}

/** Returns the edits that add an item to a list, which may not exist yet. */
export function addItem(text: string, keys: readonly string[], item: ServerEntry): TextEdit[] {
  const list = findList(text, keys);
  if (list === undefined) return jsoncFormat.add(text, keys, [item]);
  const edits = insertItem(text, list, item);
  assertOnlyChange(text, edits, keys, [...findItems(text, keys), item]);
  return edits;
}

/** Returns the edits that remove one item; the last one goes together with its list. */
export function removeItem(text: string, keys: readonly string[], index: number): TextEdit[] {
  const list = findList(text, keys);
  if (list === undefined) return [];
  if (list.children?.length === 1) return jsoncFormat.remove(text, keys, keys.length - 1);
  const edits = removeMember(text, list, index);
  assertOnlyChange(text, edits, keys, findItems(text, keys).toSpliced(index, 1));
  return edits;
}

function findList(text: string, keys: readonly string[]): Node | undefined {
  const node = findNode(parse(text), keys);
  if (node !== undefined && node.type !== 'array') throw new InitError(`"${keys.join('.')}" is not a list`);
  return node;
}

/** Other white space than that of JSON would stand before what is added. */
const BLANK = /^[ \t\r\n]*$/;

function parse(text: string): Node | undefined {
  if (BLANK.test(text)) return undefined;
  assertShallow(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined)
    throw new InitError(`line ${lineOf(text, error.offset)}: ${splitWords(printParseErrorCode(error.error))}`);
  if (root?.type !== 'object') throw new InitError('is not a JSON object');
  return root;
}

/** The parser calls itself for every level, and a file with very many would overflow its stack. */
function assertShallow(text: string): void {
  const scanner = createScanner(text, true);
  for (let depth = 0; scanner.getPosition() < text.length; ) {
    scanner.scan();
    const first = text.charAt(scanner.getTokenOffset());
    if (first === '{' || first === '[') depth += 1;
    if (first === '}' || first === ']') depth -= 1;
    if (depth > MAX_DEPTH) throw new InitError(`is nested more than ${MAX_DEPTH} levels deep`);
  }
}

const KINDS: Readonly<Record<Exclude<Node['type'], 'object'>, string>> = {
  array: 'a list',
  boolean: 'a boolean',
  null: 'null',
  number: 'a number',
  property: 'a property',
  string: 'a text',
};

/** JSON parsers disagree about which of two equal keys wins, so neither is edited. */
function findNode(root: Node | undefined, keys: readonly string[]): Node | undefined {
  let node = root;
  for (const [depth, key] of keys.entries()) {
    if (node === undefined) return undefined;
    if (node.type !== 'object')
      throw new InitError(`"${keys.slice(0, depth).join('.')}" is ${KINDS[node.type]}, not an object`);
    const found = node.children?.filter(({ children }) => children?.[0]?.value === key) ?? [];
    if (found.length > 1) throw new InitError(`has the key "${key}" twice`);
    node = findNodeAtLocation(node, [key]);
  }
  return node;
}

function nest(keys: readonly string[], entry: unknown): unknown {
  return keys.reduceRight((value, key) => ({ [key]: value }), entry);
}

function newFile(keys: readonly string[], entry: unknown): string {
  return `${formatJson(nest(keys, entry), '  ')}\n`;
}

/** The edits work on positions in the text; this compares the parsed values. */
function assertOnlyChange(text: string, edits: readonly TextEdit[], keys: readonly string[], entry: unknown): void {
  const before = parse(text);
  const after = parse(applyEdits(text, edits));
  const expected = withValue(before && getNodeValue(before), keys, entry);
  if (!isDeepStrictEqual(after && plain(getNodeValue(after)), plain(expected)))
    throw new InitError('cannot be edited safely', { advice: 'edit it by hand' });
}

function withValue(value: unknown, [key, ...below]: readonly string[], entry: unknown): unknown {
  if (key === undefined) return entry;
  const object = (value ?? {}) as Record<string, unknown>;
  return { ...object, [key]: withValue(object[key], below, entry) };
}

/** Normalizes the parser's objects, which have no prototype, and drops undefined members. */
function plain(value: unknown): unknown {
  return parseJson(JSON.stringify(value));
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** "InvalidSymbol" becomes "invalid symbol". */
function splitWords(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
