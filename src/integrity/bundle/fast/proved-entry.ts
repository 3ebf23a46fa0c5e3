import type { Entry, EntryKind } from '../../entry.ts';
import { parseJson } from '../../parse-json.ts';
import type { RawDigest } from '../../sha256.ts';
import type { BundledEntry, Disclosed } from '../format.ts';
import type { OpenedEntry } from '../verify.ts';
import { decode } from './bytes/utf8-bytes.ts';

/** An entry of a bundle whose line has the right format. It is parsed on first use, so the file must not change. */
export class ProvedEntry implements OpenedEntry {
  readonly index: number;
  readonly kind: EntryKind;
  readonly isDisclosed: boolean;
  readonly #file: Uint8Array;
  readonly #begin: number;
  readonly #end: number;
  #line: BundledEntry | undefined;
  #fields: Entry | undefined;

  constructor({ index, kind, isDisclosed }: LineFacts, file: Uint8Array, begin: number, end: number) {
    this.index = index;
    this.kind = kind;
    this.isDisclosed = isDisclosed;
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

/** What was found out about a line. Numbers stand for the ids that have them. */
export interface LineFacts {
  readonly index: number;
  readonly kind: EntryKind;
  readonly leaf: RawDigest;
  readonly isDisclosed: boolean;
  /** Whether it states a later time than all before it. */
  readonly isNewest: boolean;
  /** Set for a thought and a task event. */
  readonly record: RecordFacts | undefined;
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
  /** Undefined if the thought is not disclosed. */
  readonly previous: RawDigest | null | undefined;
}

export function idNumber(id: string): number {
  return Number(id.slice('T-'.length));
}
