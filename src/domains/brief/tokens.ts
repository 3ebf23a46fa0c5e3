import { isCommonWord } from './common-words.ts';

/**
 * An upper bound of how many tokens a text costs a model, without its vocabulary: common words are one token, and no
 * other text costs more than its bytes.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const match of text.matchAll(PIECES)) tokens += costOf(match);
  return tokens;
}

/** Returns the longest prefix of a text that costs at most `limit` tokens; an ellipsis marks a cut. */
export function cutToTokens(text: string, limit: number): string {
  if (estimateTokens(text) <= limit) return text;
  let [tokens, end] = [ELLIPSIS_TOKENS, 0];
  for (const match of text.matchAll(PIECES)) {
    tokens += costOf(match);
    if (tokens > limit) break;
    end = match.index + match[0].length;
  }
  return `${text.slice(0, end).trimEnd()}…`;
}

const ELLIPSIS_TOKENS = 3;

/**
 * Words as a tokenizer splits them: a space belongs to the word after it. Long runs are split, so that a cut can end
 * inside.
 */
const PIECES = / ?[A-Za-z]{1,12}|\d{1,3}| {1,8}|[^A-Za-z\d ]/gu;

function costOf({ 0: piece, index, input }: RegExpExecArray): number {
  if (!/[A-Za-z]/.test(piece)) return /^[\d ]/.test(piece) ? 1 : Buffer.byteLength(piece);
  const isWhole = !/[A-Za-z]/.test(input[index + piece.length] ?? '');
  const before = piece.startsWith(' ') ? ' ' : (input[index - 1] ?? '\n');
  if (!isWhole || /[A-Za-z]/.test(before) || !isCommon(piece.trim())) return costOfLetters(piece);
  // A vocabulary may join punctuation with the first letters of the word.
  return /[\s\d]/.test(before) ? 1 : 2;
}

function isCommon(word: string): boolean {
  return /^[A-Z]?[a-z]+$/.test(word) && isCommonWord(word.toLowerCase());
}

/** Pairs of letters that common vocabularies do not have. */
const RARE_PAIR =
  /(?<=[A-Z])|(?<=[a-z])(?=[A-Z])|(?<=b)(?=q)|(?<=f)(?=[jz])|(?<=g)(?=[jkq])|(?<=h)(?=j)|(?<=j)(?=[gvwxyz])|(?<=k)(?=[qxz])|(?<=[lnotu])(?=q)|(?<=[mvw])(?=z)|(?<=q)(?=[fgjkovyz])|(?<=[rt])(?=j)|(?<=[vw])(?=[qv])|(?<=x)(?=[ghjkquvw])|(?<=y)(?=[fjqv])|(?<=z)(?=[gjqrv])/;

/** All other pairs are tokens, so that no two letters next to each other stay single: at most two tokens for three. */
function costOfLetters(piece: string): number {
  return piece.split(RARE_PAIR).reduce((sum, part) => sum + Math.floor((2 * part.length + 1) / 3), 0);
}
