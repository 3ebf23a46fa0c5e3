import { seededRandom } from '../support/random.ts';

/**
 * Makes texts that a pattern probably matches: every alternative, class and repetition is chosen at random, from a
 * fixed seed. Look-arounds and anchors add nothing. With the flag i, letters get a random case.
 */
export function createMatches(source: string, flags: string, count: number): string[] {
  const random = seededRandom(source.length + 1);
  return Array.from({ length: count }, () => {
    const groups: string[] = [];
    const text = new Generator(source, random, groups).alternatives();
    if (!flags.includes('i')) return text;
    return text.replaceAll(/[a-z]/gi, (letter) => (random() < 0.5 ? letter.toLowerCase() : letter.toUpperCase()));
  });
}

const ALL = [' ', '\t', '\n', ...Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))];
const MORE_REPETITIONS = 6;

class Generator {
  #at = 0;

  constructor(
    readonly source: string,
    readonly random: () => number,
    readonly groups: string[],
  ) {}

  /** Up to the end of the source or of the group. Every alternative is read, one is returned. */
  alternatives(): string {
    const choices = [this.#sequence()];
    while (this.source[this.#at] === '|') {
      this.#at += 1;
      choices.push(this.#sequence());
    }
    return this.#choose(choices);
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.source.length && !'|)'.includes(this.source[this.#at] ?? '')) text += this.#repeated();
    return text;
  }

  #repeated(): string {
    const start = this.#at;
    const once = this.#atom();
    const end = this.#at;
    const [whole = '', sign = '', low = '', comma, high] =
      /^(?:([?*+])|\{(\d+)(,(\d*))?\})?\??/.exec(this.source.slice(end)) ?? [];
    this.#at += whole.length;
    if (whole === '') return once;
    const from = sign === '' ? Number(low) : sign === '+' ? 1 : 0;
    const to =
      sign === '?' ? 1 : sign === '' && comma === undefined ? from : high ? Number(high) : from + MORE_REPETITIONS;
    const times = from + Math.floor(this.random() * (Math.min(to, from + MORE_REPETITIONS) - from + 1));
    const next = this.#at;
    let text = '';
    for (let count = 0; count < times; count += 1) {
      this.#at = start;
      text += this.#atom();
    }
    this.#at = next;
    return text;
  }

  #atom(): string {
    const character = this.source[this.#at] ?? '';
    this.#at += 1;
    if (character === '(') return this.#group();
    if (character === '[') return this.#fromClass();
    if (character === '\\') return this.#escape();
    return '^$'.includes(character) ? '' : character;
  }

  #group(): string {
    const [kind = ''] = /^\?(?::|[=!]|<[=!])/.exec(this.source.slice(this.#at)) ?? [];
    this.#at += kind.length;
    const text = this.alternatives();
    this.#at += 1;
    if (kind === '') this.groups.push(text);
    return kind === '' || kind === '?:' ? text : '';
  }

  #escape(): string {
    const character = this.source[this.#at] ?? '';
    this.#at += 1;
    if (character === 'b') return '';
    // The last group was a quotation mark if anything refers to it.
    if (/\d/.test(character)) return this.groups.at(-1) ?? '';
    return this.#choose(charactersOf(character));
  }

  #fromClass(): string {
    const end = this.source.indexOf(']', this.#at + 1);
    const [, not = '', inner = ''] = /^(\^?)(.*)$/s.exec(this.source.slice(this.#at, end)) ?? [];
    this.#at = end + 1;
    const named = new RegExp(`[${not}${inner}]`);
    return this.#choose(ALL.filter((character) => named.test(character)));
  }

  #choose(choices: ArrayLike<string>): string {
    return choices[Math.floor(this.random() * choices.length)] ?? '';
  }
}

function charactersOf(escaped: string): string {
  if (escaped === 'n' || escaped === 't') return escaped === 'n' ? '\n' : '\t';
  if (!'wdsSW'.includes(escaped)) return escaped;
  return ALL.filter((character) => new RegExp(`\\${escaped}`).test(character)).join('');
}
