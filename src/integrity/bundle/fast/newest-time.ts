import { type Scratch, WORD } from './bytes/scratch.ts';

const TIME_LENGTH = '2026-04-08T22:15:30.000Z'.length;

/** Remembers the latest of many times. As text they have the order of the times. */
export class NewestTime {
  /** Four characters of ASCII each, which as numbers have the order of the text. */
  readonly #newest = new Int32Array(TIME_LENGTH / WORD);

  /** Whether the time that stands here is later than all before it. */
  isNext({ words }: Scratch, at: number): boolean {
    const newest = this.#newest;
    let place = 0;
    while (place < newest.length && words.getInt32(at + place * WORD) === newest[place]) place += 1;
    if (place === newest.length || words.getInt32(at + place * WORD) < (newest[place] as number)) return false;
    for (; place < newest.length; place += 1) newest[place] = words.getInt32(at + place * WORD);
    return true;
  }
}
