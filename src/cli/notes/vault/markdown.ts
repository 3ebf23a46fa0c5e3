import { escapeUnsafe } from '../../../terminal-text.ts';

/** Text that is Markdown already. Data becomes one only through the functions below, which escape it. */
export interface Markdown {
  readonly markdown: string;
}

/** A template whose strings are Markdown and whose values are data, unless they are Markdown themselves. */
export function md(strings: TemplateStringsArray, ...values: readonly (Markdown | string | number)[]): Markdown {
  const parts = strings.flatMap((text, place) => [text, place < values.length ? toMarkdown(values[place] ?? '') : '']);
  return { markdown: parts.join('') };
}

export function joinMarkdown(parts: readonly Markdown[], separator: string): Markdown {
  return { markdown: parts.map(({ markdown }) => markdown).join(separator) };
}

/** Text of several lines as a block quote, which nothing in the text can leave. */
export function quote(text: string): Markdown {
  const lines = text.trimEnd().split(/\r\n|\r|\n/);
  return { markdown: lines.map((line) => `> ${escapeIndented(line)}`.trimEnd()).join('\n') };
}

/** Longer text is cut, because notes list many. */
export function excerpt(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}…`;
}

/** A link to a note of the vault. The path is ours; the text is data, and only its plain characters are kept. */
export function wikilink(path: string, text: string): Markdown {
  const alias = escapeUnsafe(text).replaceAll(/::+|[^\p{L}\p{N} ._:@#+,()/-]/gu, '-');
  return { markdown: `[[${path.replace(/\.md$/, '')}|${alias.trim() || 'unnamed'}]]` };
}

/** A property of the front matter: a JSON string, which YAML reads as the same text on one line. */
export function yamlText(text: string): string {
  // A value that is a wikilink would be a link, and code of the Templater plug-in begins with "<%".
  const plain = escapeUnsafe(text).replaceAll('[[', '[ [').replaceAll(']]', '] ]');
  return JSON.stringify(plain).replaceAll('<', String.raw`\u003c`);
}

function toMarkdown(value: Markdown | string | number): string {
  if (typeof value === 'object') return value.markdown;
  return escapeLine(String(value).replaceAll(/\s+/g, ' '));
}

/** Characters that begin something in Markdown, in Obsidian or in a template language, wherever they stand. */
const ACTIVE = /[\\`*[\]|#~$^%{]|[=:](?=[=:])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const NO_BREAK_SPACE = '\u00a0';
const TAB_WIDTH = 4;

/** Four blanks would begin a block of code. */
function escapeIndented(line: string): string {
  const [indent = ''] = /^[ \t]*/.exec(line) ?? [];
  const width = indent.replaceAll('\t', ' '.repeat(TAB_WIDTH)).length;
  return NO_BREAK_SPACE.repeat(width) + escapeLine(line.slice(indent.length));
}

/** Escapes one line so that it shows as it is: no structure, link, tag, HTML or code of a plug-in. */
function escapeLine(line: string): string {
  return (
    escapeUnsafe(line.replaceAll('\t', ' '))
      .replaceAll('&', '&amp;')
      .replaceAll(ACTIVE, String.raw`\$&`)
      // Not by a backslash: plug-ins and this program look for these in the text of the file.
      .replaceAll('<', '&lt;')
      .replaceAll(/:(?=\/\/)|(?<=\bwww)\.|(?<=[\w.+-])@(?=\w)/gi, String.raw`\$&`)
      .replace(/^(?:>|[-+](?=[\s-]|$)|=+$)/, String.raw`\$&`)
      .replace(/^(\d{1,9})([.)])/, String.raw`$1\$2`)
  );
}
