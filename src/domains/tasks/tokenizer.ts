/**
 * How text is cut into words for searching. Done here and not by the database, so that every engine finds the same:
 * they differ on emoji, on Chinese and Japanese, and on every kind of quote.
 */

/** Scripts that are written without spaces: each character is a word of its own. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A flag is two letters of an alphabet of its own. */
const WORD = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu;
const MAX_WORD_LENGTH = 64;

/** One phrase for each run of text without a gap: its words must stand next to each other. */
export function phrases(text: string): string[][] {
  const found: string[][] = [];
  for (const [run] of fold(text).matchAll(WORD)) found.push(cut(run));
  return found;
}

/** The text as the index stores it. */
export function indexedWords(title: string, description: string): string {
  return phrases(`${title}\n${description}`)
    .map((phrase) => phrase.map(encode).join(' '))
    .join(' ');
}

/** All phrases must occur; the last word of each may be the beginning of a longer one. Empty: nothing to look for. */
export function searchPhrases(text: string): string[][] {
  return phrases(text).map((phrase) => phrase.map(encode));
}

/** Compatibility forms, case and accents make no difference to a searcher. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase();
}

function cut(run: string): string[] {
  const words: string[] = [];
  let word = '';
  for (const character of run) {
    if (UNSPACED.test(character)) {
      if (word !== '') words.push(word);
      words.push(character);
      word = '';
    } else {
      word += character;
    }
  }
  if (word !== '') words.push(word);
  return words;
}

/**
 * Letters and digits of ASCII stay; everything else becomes a number that no engine takes for a separator. The q that
 * opens a number is written as a number itself, so that no word looks like the beginning of another's number.
 */
function encode(word: string): string {
  return Array.from(word).slice(0, MAX_WORD_LENGTH).map(encodeCharacter).join('');
}

function encodeCharacter(character: string): string {
  return /[a-pr-z0-9]/.test(character) ? character : `q${character.codePointAt(0)?.toString(16)}z`;
}
