import { ENTRY_KINDS } from '../../entry.ts';
import { type Sample, type Scratch, sampleOf } from './bytes/scratch.ts';
import { type KindPattern, kindPatterns } from './kind-pattern.ts';

const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/** How an entry names its kind; it is never the first field. */
const KIND = sampleOf(',\\"kind\\":\\"');
const NAMES = ENTRY_KINDS.map((kind) => sampleOf(`${kind}\\"`));

const GUESSES = 256;

/**
 * Guesses the kind of an entry that comes behind its content in the line: the one that followed an entry of the same
 * kind last, with content that began alike. A wrong guess costs only time: what does not fit its pattern is not read.
 */
export class KindGuesser {
  readonly #guesses = Array.from<KindPattern | undefined>({ length: GUESSES });
  #last = 0;
  #place = 0;

  /** `start` is four bytes of the content; 0 without content. */
  guess(start: number): KindPattern | undefined {
    this.#place = ((Math.imul(start, 0x9e3779b1) >>> 16) ^ Math.imul(this.#last, 0x55)) & (GUESSES - 1);
    return this.#guesses[this.#place];
  }

  /** The kind that the entry had about which the last guess was. */
  learn(kind: KindPattern): KindPattern {
    this.#guesses[this.#place] = kind;
    this.#last = kind.ordinal;
    return kind;
  }
}

/**
 * The kind that a canonical line names. Text has each of its quotation marks escaped twice, so the field is found
 * nowhere else. In any other line, reading fails.
 */
export function findKind(file: Scratch, begin: number): KindPattern | undefined {
  const { bytes } = file;
  // Backward, because content can be long and comes first.
  for (let at = bytes.indexOf(LINE_FEED, begin) - KIND.length; at > begin; at -= 1)
    if (bytes[at] === COMMA && file.has(KIND, at)) return kindAt(file, at + KIND.length);
  return undefined;
}

function kindAt(file: Scratch, at: number): KindPattern | undefined {
  return kindPatterns().find(({ ordinal }) => file.has(NAMES[ordinal] as Sample, at));
}
