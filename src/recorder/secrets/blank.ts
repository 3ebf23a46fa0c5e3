import { possiblePatterns } from './shapes.ts';

/** Blanks several texts. One search over all of them is enough in the usual case, that there is no secret. */
export function blankAll<Name extends string>(texts: Texts<Name>): Texts<Name> {
  const all = Object.values<string | null>(texts).filter((text) => text !== null);
  if (listSecrets(all.join('\n')).length === 0) return texts;
  const blanked = Object.entries<string | null>(texts).map(([name, text]) => [
    name,
    text === null ? null : blankSecrets(text),
  ]);
  return Object.fromEntries(blanked) as Texts<Name>;
}

export type Texts<Name extends string> = Readonly<Record<Name, string | null>>;

/** Replaces the known shapes of secrets. Over-blanking is harmless; a missed secret stays on disk. */
export function blankSecrets(text: string): string {
  const ranges = listSecrets(text);
  return ranges.length === 0 ? text : replaceRanges(text, ranges);
}

export const BLANK = '[blanked]';

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Also finds secrets in JSON inside JSON, and in colored output: what a reader of the text would see counts. */
function listSecrets(text: string): Range[] {
  const ranges = findSecrets(text);
  if (!text.includes('\\') && !text.includes(ESCAPE)) return ranges;
  const unescaped = undoEscapes(text);
  // A color may divide a secret, or be all that divides it from a word before it.
  const readings = unescaped.plain.includes(ESCAPE) ? ['', ' '].map((gap) => withoutColors(unescaped, gap)) : [];
  for (const { plain, starts } of [unescaped, ...readings])
    for (const { start, end } of findSecrets(plain))
      ranges.push({ start: starts[start] ?? text.length, end: starts[end] ?? text.length });
  return ranges;
}

function findSecrets(text: string): Range[] {
  const ranges: Range[] = [];
  for (const pattern of possiblePatterns(text)) {
    for (const match of text.matchAll(pattern)) {
      const [whole, kept = ''] = match;
      ranges.push({ start: match.index + kept.length, end: match.index + whole.length });
    }
  }
  return ranges;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** A text as it is read; `starts` maps each character to where it came from. */
interface Reading {
  readonly plain: string;
  readonly starts: readonly number[];
}

/** Undoes any number of levels of JSON escapes at once. */
function undoEscapes(text: string): Reading {
  const characters: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    if (text[at] !== '\\') {
      characters.push(text[at] as string);
      at += 1;
      continue;
    }
    while (text[at] === '\\') at += 1;
    const code = text[at] === 'u' ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 1, at + 5)) : null;
    if (code !== null) {
      characters.push(String.fromCharCode(Number.parseInt(code[0], 16)));
      at += 5;
    } else {
      const next = text[at];
      characters.push(next === undefined ? '\\' : (ESCAPES[next] ?? next));
      at += 1;
    }
  }
  return { plain: characters.join(''), starts };
}

/** Only searched for, never printed. */
const ESCAPE = String.fromCharCode(0x1b);

/** Sequences that set colors or erase a line, and those that choose a character set. */
const COLORS = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~])`, 'g');

function withoutColors({ plain, starts }: Reading, gap: string): Reading {
  const texts: string[] = [];
  const kept: (readonly number[])[] = [];
  let done = 0;
  for (const { 0: color, index } of plain.matchAll(COLORS)) {
    texts.push(plain.slice(done, index), gap);
    kept.push(starts.slice(done, gap === '' ? index : index + 1));
    done = index + color.length;
  }
  return { plain: texts.join('') + plain.slice(done), starts: [...kept, starts.slice(done)].flat() };
}

function replaceRanges(text: string, ranges: Range[]): string {
  ranges.sort((left, right) => left.start - right.start);
  let result = '';
  let done = 0;
  for (const { start, end } of ranges) {
    if (end <= done) continue;
    // Overlapping shapes become one blank.
    if (start > done || done === 0) result += text.slice(done, start) + BLANK;
    done = end;
  }
  return result + text.slice(done);
}
