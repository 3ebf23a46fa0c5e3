import { createScanner, type Node } from 'jsonc-parser';
import { formatJson } from './json-text.ts';
import type { TextEdit } from './text-edit.ts';

// The scanner's token kinds are a const enum, which isolatedModules cannot import.
const COMMA_TOKEN = 5;
const END_OF_TEXT = 17;

/** Adds a property after the last one; every comment stays beside the property that it describes. */
export function insertProperty(text: string, object: Node, key: string, value: unknown): TextEdit[] {
  return insertMember(text, object, (unit) => `${JSON.stringify(key)}: ${formatJson(value, unit)}`);
}

/** Adds an item after the last one, likewise. */
export function insertItem(text: string, list: Node, value: unknown): TextEdit[] {
  return insertMember(text, list, () => formatJson(value));
}

function insertMember(text: string, object: Node, write: (unit?: string) => string): TextEdit[] {
  const closing = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const first = object.children?.[0];
  if (first !== undefined && last !== undefined && !text.slice(first.offset, closing).includes('\n'))
    return insertInLine(text, last, closing, write());

  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = indentUnit(text);
  const outer = indentAt(text, object.offset);
  const indent = first === undefined ? outer + unit : indentAt(text, first.offset);
  const property = write(unit).replaceAll('\n', eol + indent);
  const inside = text.slice(object.offset + 1, closing);
  if (inside.trim() === '')
    return [{ offset: object.offset + 1, length: inside.length, content: `${eol}${indent}${property}${eol}${outer}` }];

  const end = object.offset + 1 + inside.trimEnd().length;
  const comma = last && findComma(text, endOf(last), closing);
  const line = `${eol}${indent}${property}${comma === undefined ? '' : ','}`;
  if (last === undefined || comma !== undefined) return [{ offset: end, length: 0, content: line }];
  if (endOf(last) === end) return [{ offset: end, length: 0, content: `,${line}` }];
  return [
    { offset: endOf(last), length: 0, content: ',' },
    { offset: end, length: 0, content: line },
  ];
}

function insertInLine(text: string, last: Node, closing: number, property: string): TextEdit[] {
  const comma = findComma(text, endOf(last), closing);
  return comma === undefined
    ? [{ offset: endOf(last), length: 0, content: `, ${property}` }]
    : [{ offset: comma + 1, length: 0, content: ` ${property},` }];
}

/** Replaces a value, on one line if it was on one line. */
export function replaceValue(text: string, { offset, length }: Node, value: unknown): TextEdit[] {
  if (!text.slice(offset, offset + length).includes('\n')) return [{ offset, length, content: formatJson(value) }];
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const content = formatJson(value, indentUnit(text)).replaceAll('\n', eol + indentAt(text, offset));
  return [{ offset, length, content }];
}

/** Removes one property with its comma; comments and other lines are not changed. */
export function removeProperty(text: string, object: Node, key: string): TextEdit[] {
  const index = object.children?.findIndex(({ children: pair }) => pair?.[0]?.value === key);
  return removeMember(text, object, index ?? -1);
}

/** Removes the property or item at this position, likewise. */
export function removeMember(text: string, object: Node, index: number): TextEdit[] {
  const children = object.children ?? [];
  const property = children[index];
  if (property === undefined) return [];
  const closing = object.offset + object.length - 1;
  const following = findComma(text, endOf(property), children[index + 1]?.offset ?? closing);
  const end = following === undefined ? endOf(property) : following + 1;
  const start = startOfGap(text, property.offset, end);
  const own = { offset: start, length: end - start, content: '' };
  const previous = children[index - 1];
  const comma =
    following === undefined && previous !== undefined ? findComma(text, endOf(previous), property.offset) : undefined;
  if (comma === undefined) return [own];
  if (text.slice(comma + 1, property.offset).trim() === '')
    return [{ offset: comma, length: end - comma, content: '' }];
  return [{ offset: comma, length: 1, content: '' }, own];
}

/** The start of the white space before a property that is removed with it. */
function startOfGap(text: string, offset: number, end: number): number {
  const before = text.slice(0, offset);
  if (/^[ \t]*(?:\r?\n|$)/.test(text.slice(end))) return before.trimEnd().length;
  // More text follows on the line; without the line break it could become part of a comment above.
  const onLine = before.replace(/(?<![ \t])[ \t]+$/, '');
  return onLine.endsWith('\n') ? offset : onLine.length;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function findComma(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  for (let token: number = scanner.scan(); token !== END_OF_TEXT; token = scanner.scan()) {
    if (scanner.getTokenOffset() >= to) return undefined;
    if (token === COMMA_TOKEN) return scanner.getTokenOffset();
  }
  return undefined;
}

function indentUnit(text: string): string {
  return /^([ \t]+)["/]/m.exec(text)?.[1] ?? '  ';
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
