/** Splits a command line into words and operators, as a POSIX shell does. Pure; linear in the length of the text. */

export type Operator = '&&' | '||' | ';' | '&' | '|';

/** A word has no quotes any more. A redirection is a command even if no word is beside it. */
export type Token = { readonly operator: Operator } | { readonly word: string } | typeof REDIRECTED;

const REDIRECTED = { isRedirection: true } as const;

/** Undefined for a line whose meaning needs more of the shell than this: substitutions, subshells, here-documents. */
export function readTokens(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    BLANK.lastIndex = at;
    if (BLANK.test(text)) {
      at = BLANK.lastIndex;
      continue;
    }
    if (text[at] === '#') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
      continue;
    }
    const start = MAY_OPERATE.test(text[at] ?? '') ? text.slice(at, at + MAX_OPERATOR_LENGTH) : '';
    const redirection = REDIRECTION.exec(start);
    if (redirection !== null) {
      const target = readWord(text, skipBlanks(text, at + redirection[0].length));
      // A descriptor such as 2>&1 has its target in the same word; an empty target is an error of the shell.
      if (target === undefined || target.end === target.begin) return undefined;
      tokens.push(REDIRECTED);
      at = target.end;
      continue;
    }
    const operator = OPERATOR.exec(start)?.[0];
    if (operator !== undefined) {
      const kind = OPERATORS[operator];
      if (kind === undefined) return undefined;
      tokens.push({ operator: kind });
      at += operator.length;
      continue;
    }
    const read = readWord(text, at);
    if (read === undefined || read.end === at) return undefined;
    tokens.push({ word: read.word });
    at = read.end;
  }
  return tokens;
}

const BLANK = /[ \t]+|\\\n/y;
/** Most words begin otherwise, and need no further look. */
const MAY_OPERATE = /[\d&|;<>()\n]/;
const MAX_OPERATOR_LENGTH = 16;
/** Input and output files, and copies of descriptors. Here-documents (<<) are left to OPERATOR, which refuses them. */
const REDIRECTION = /^(?:\d{0,3}(?:>>|>&|>\||>|<>|<&|<(?!<))|&>>?)(?!\()/;
const OPERATOR = /^(?:&&|\|\||;;|\|&|<<|[;&|\n()<>])/;
const OPERATORS: Readonly<Record<string, Operator>> = {
  '&&': '&&',
  '||': '||',
  ';': ';',
  '\n': ';',
  '&': '&',
  '|': '|',
  '|&': '|',
};

interface Word {
  readonly word: string;
  readonly begin: number;
  readonly end: number;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Ends before a blank or an operator. Undefined for an unclosed quote or a substitution. */
function readWord(text: string, begin: number): Word | undefined {
  const parts: string[] = [];
  let at = begin;
  for (;;) {
    PLAIN.lastIndex = at;
    const plain = PLAIN.exec(text)?.[0] ?? '';
    parts.push(plain);
    at += plain.length;
    const next = text[at];
    if (next === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return undefined;
      parts.push(text.slice(at + 1, end));
      at = end + 1;
    } else if (next === '"') {
      DOUBLE_QUOTED.lastIndex = at;
      const quoted = DOUBLE_QUOTED.exec(text)?.[0];
      if (quoted === undefined || SUBSTITUTION.test(quoted)) return undefined;
      parts.push(quoted.slice(1, -1).replaceAll(/\\([\\"$`])|\\\n/g, '$1'));
      at += quoted.length;
    } else if (next === '\\' && text[at + 1] !== undefined) {
      parts.push(text[at + 1] === '\n' ? '' : (text[at + 1] as string));
      at += 2;
    } else if (next === '$' && text[at + 1] !== '(' && text[at + 1] !== "'" && text[at + 1] !== '"') {
      parts.push('$');
      at += 1;
    } else if (next === undefined || ENDS_WORD.test(next)) {
      return { word: parts.join(''), begin, end: at };
    } else return undefined;
  }
}

const PLAIN = /[^\s'"\\$`;&|()<>]*/y;
const DOUBLE_QUOTED = /"(?:[^"\\]|\\[\s\S])*"/y;
/** Quotes nest inside a substitution, so the end of the text would be found at the wrong place. */
const SUBSTITUTION = /(?:^|[^\\])(?:\\\\)*(?:\$\(|`)/;
const ENDS_WORD = /[\s;&|()<>]/;
