import { type KindPattern, kindPatterns } from './kind-pattern.ts';
import { type LineFacts, ProvedEntry } from './proved-entry.ts';

/**
 * The entries of a bundle, in columns: to make an object for each takes longer than to read most of them. Objects are
 * made for those that a caller asks for.
 */
export class ProvedEntries {
  /** How many disclose content. */
  disclosed = 0;
  /** How many could. */
  able = 0;
  #length = 0;
  readonly #file: Uint8Array;
  readonly #indexes: Float64Array;
  readonly #kinds: Uint8Array;
  /** Where the line of each begins; the line feed before the next one ends it. */
  readonly #begins: Float64Array;
  readonly #made = new Map<number, ProvedEntry>();
  #all: readonly ProvedEntry[] | undefined;

  /** For up to `count` entries, whose lines begin there. */
  constructor(file: Uint8Array, begin: number, count: number) {
    this.#file = file;
    this.#indexes = new Float64Array(count);
    this.#kinds = new Uint8Array(count);
    this.#begins = new Float64Array(count + 1);
    this.#begins[0] = begin;
  }

  get indexes(): Float64Array {
    return this.#indexes.subarray(0, this.#length);
  }

  /** Adds the entry of the next line, and returns its place. */
  add({ index, kind, isDisclosed }: LineFacts, nextLine: number): number {
    const place = this.#length;
    this.#indexes[place] = index;
    this.#kinds[place] = kind.ordinal;
    this.#begins[place + 1] = nextLine;
    if (isDisclosed) this.disclosed += 1;
    if (kind.hasContent) this.able += 1;
    this.#length += 1;
    return place;
  }

  /** The same object each time. */
  at(place: number): ProvedEntry {
    const entry = this.#made.get(place) ?? this.#make(place);
    this.#made.set(place, entry);
    return entry;
  }

  all(): readonly ProvedEntry[] {
    this.#all ??= Array.from({ length: this.#length }, (_, place) => this.#made.get(place) ?? this.#make(place));
    return this.#all;
  }

  #make(place: number): ProvedEntry {
    const { kind } = kindPatterns()[this.#kinds[place] as number] as KindPattern;
    const [begin, next] = [this.#begins[place] as number, this.#begins[place + 1] as number];
    return new ProvedEntry(this.#file, { index: this.#indexes[place] as number, kind, begin, end: next - 1 });
  }
}
