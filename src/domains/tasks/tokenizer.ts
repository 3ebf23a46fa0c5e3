/**
 * Splits text into words for the search index. Not left to the databases, because their tokenizers differ on emoji,
 * Chinese, Japanese and quotation marks.
 */

/** Scripts written without spaces: each character is one word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A flag emoji is a pair of regional indicators. */
const WORD = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu;
const MAX_WORD_LENGTH = 64;

/** One phrase for each run of text without a separator; the words of a phrase must be adjacent. */
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

/** All phrases must match; the last word of each matches as a prefix. Empty if the text has no words. */
export function searchPhrases(text: string): string[][] {
  return phrases(text).map((phrase) => phrase.map(encode));
}

/** Ignores compatibility forms, case and accents. */
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
 * Keeps ASCII letters and digits and encodes all other characters as `q<hex>z`, which no engine splits. A literal q is
 * encoded too, so that no plain word is a prefix of an encoded one.
 */
function encode(word: string): string {
  return Array.from(word).slice(0, MAX_WORD_LENGTH).map(encodeCharacter).join('');
}

function encodeCharacter(character: string): string {
  return /[a-pr-z0-9]/.test(character) ? character : `q${character.codePointAt(0)?.toString(16)}z`;
}
