import type { Entry, EntryKind } from '../../entry.ts';
import { parseJson } from '../../parse-json.ts';
import type { RawDigest } from '../../sha256.ts';
import type { BundledEntry, Disclosed } from '../format.ts';
import type { OpenedEntry } from '../verify.ts';
import type { Scratch } from './bytes/scratch.ts';
import { decode } from './bytes/utf8-bytes.ts';
import type { KindPattern } from './kind-pattern.ts';

/** An entry of a bundle whose line has the right format. It is parsed on first use, so the file must not change. */
export class ProvedEntry implements OpenedEntry {
  readonly index: number;
  readonly kind: EntryKind;
  readonly #file: Uint8Array;
  readonly #begin: number;
  readonly #end: number;
  #line: BundledEntry | undefined;
  #fields: Entry | undefined;

  constructor(file: Uint8Array, { index, kind, begin, end }: EntryPlace) {
    this.index = index;
    this.kind = kind;
    this.#file = file;
    this.#begin = begin;
    this.#end = end;
  }

  get entry(): string {
    return this.#parsed().entry;
  }

  get disclosed(): Disclosed | undefined {
    return this.#parsed().disclosed;
  }

  get fields(): Entry {
    this.#fields ??= parseJson(this.entry) as Entry;
    return this.#fields;
  }

  #parsed(): BundledEntry {
    this.#line ??= parseJson(decode(this.#file, this.#begin, this.#end)) as BundledEntry;
    return this.#line;
  }
}

/** Where the line of an entry is in the file. */
export interface EntryPlace {
  readonly index: number;
  readonly kind: EntryKind;
  readonly begin: number;
  readonly end: number;
}

/** What was found out about a line. Numbers stand for the ids that have them. */
export interface LineFacts {
  readonly index: number;
  readonly kind: KindPattern;
  readonly leaf: RawDigest;
  readonly isDisclosed: boolean;
  /** Whether it states a later time than all before it. */
  readonly isNewest: boolean;
  /** Set for a thought and a task event. */
  readonly record: RecordFacts | undefined;
  /** Set for the seal of a session. */
  readonly seal: SealFacts | undefined;
}

export interface RecordFacts {
  readonly task: number;
  readonly sessions: readonly number[];
  /** Set for a thought. */
  readonly link: LinkFacts | undefined;
}

export interface LinkFacts {
  readonly position: number;
  readonly hash: RawDigest;
  /** Where the hash of the one before it stands; undefined if the thought is not disclosed. */
  readonly previous: HexDigits | null | undefined;
}

export interface HexDigits {
  readonly source: Scratch;
  readonly at: number;
}

export interface SealFacts {
  readonly session: number;
  /** Set if the seal is about the records of one task. */
  readonly task: number | undefined;
  readonly records: number;
  readonly root: RawDigest;
}

export function idNumber(id: string): number {
  return Number(id.slice('T-'.length));
}

/** An id has at least four digits. */
export function sessionIdOf(number: number): string {
  return `A-${String(number).padStart(4, '0')}`;
}
