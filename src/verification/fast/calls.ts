import type { Reader } from '../../db/database.ts';
import {
  type Digest,
  type EnterText,
  ERASED_SALT,
  type ExitText,
  erasedContent,
  readEnter,
  readExit,
  saltedDigest,
} from '../../integrity/index.ts';
import type { Hasher } from '../hashing.ts';
import type { Latin1Text } from '../latin1-text.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import type { LoggedRedaction, Redactions } from '../redactions/finder.ts';
import { CONTENT_SEPARATOR, KEY_END } from './deferred-digest.ts';
import type { PackedPage } from './packed-entries.ts';
import { countOf, packedPairsSql, readPackedPairs, unescapeText } from './packed-rows.ts';

const EXITS = packedPairsSql('sequence_no', 'exit_idx', 'call_exits WHERE sequence_no >= $1 AND sequence_no < $2');

interface CallSource {
  readonly reader: Reader;
  readonly hasher: Hasher;
  /** Calls of earlier pages. */
  readonly openCalls: ReadonlyMap<number, OpenCall>;
  readonly redactions: Redactions;
}

/** Returns undefined unless all calls of the page are proven, and all exits of earlier calls in it. */
export async function proveCalls(
  { reader, hasher, openCalls, redactions }: CallSource,
  page: PackedPage,
): Promise<ProvenCalls | undefined> {
  const { begin, texts, contents } = page;
  const exits = await readPackedPairs(reader, EXITS, [begin, begin + texts.length]);
  const exitOf = exits && exitsByOffset(page, exits);
  if (exitOf === undefined) return undefined;
  const calls = new PageCalls(page, exitOf, { openCalls, redactions });
  for (let offset = begin === 0 ? 1 : 0; offset < texts.length; offset += 1)
    if (!calls.add(offset, texts[offset] as Latin1Text)) return undefined;
  const proven = calls.finish();
  // Every call of the page has an exit: an equal number leaves no row for anything else.
  if (proven === undefined || proven.exits * 2 !== exits?.length) return undefined;
  const { expected } = calls;
  return hasher.compare({ label: 'arguments', bytes: contents, expected }) === 'different' ? undefined : proven;
}

/** The exit of each call by the offset of its enter entry, or 0. Undefined if a call has two. */
function exitsByOffset({ begin, texts }: PackedPage, pairs: Float64Array): Float64Array | undefined {
  const exitOf = new Float64Array(texts.length);
  for (let at = 0; at < pairs.length; at += 2) {
    const offset = (pairs[at] as number) - begin;
    if (exitOf[offset] !== 0) return undefined;
    exitOf[offset] = pairs[at + 1] as number;
  }
  return exitOf;
}

const ACTOR_BEGIN = '{"actor":"'.length;
/** The second letter of `arguments`, `answer` or `at`. */
const KEY_LETTER = '","a'.length;

/** Reads the entries of a page in log order and compares the exits with their calls. */
class PageCalls {
  /** The keys and digests of the arguments. */
  expected = '';
  readonly #page: PackedPage;
  readonly #exitOf: Float64Array;
  readonly #open: ReadonlyMap<number, OpenCall>;
  readonly #redactions: Redactions;
  readonly #indexes: number[] = [];
  /** The actor of each enter entry by its offset, until its exit. */
  readonly #actorOf: (Latin1Text | undefined)[];
  readonly #lastOf = new Map<Latin1Text, number>();
  /** The last call and its actor: most calls that follow one another have the same. */
  #lastActor: Latin1Text | undefined;
  #lastIndex = 0;
  readonly #left: number[] = [];
  #exits = 0;

  constructor(
    page: PackedPage,
    exitOf: Float64Array,
    { openCalls, redactions }: Pick<CallSource, 'openCalls' | 'redactions'>,
  ) {
    this.#page = page;
    this.#exitOf = exitOf;
    this.#open = openCalls;
    this.#redactions = redactions;
    this.#actorOf = Array.from({ length: page.texts.length });
  }

  /** False if the entry is an exit that does not match its call. Entries of other kinds are ignored. */
  add(offset: number, text: Latin1Text): boolean {
    // Canonical JSON sorts its keys: the second one tells enter entries, exit entries and others apart.
    const key = text[text.indexOf('","a', ACTOR_BEGIN) + KEY_LETTER];
    if (key === 'r') this.#enter(offset, readEnter(text));
    else if (key === 'n') return this.#exit(offset, readExit(text));
    return true;
  }

  #enter(offset: number, enter: EnterText | undefined): void {
    if (enter === undefined) return;
    const index = this.#page.begin + offset;
    const redaction = this.#redactions.get(index);
    const digest = redaction === undefined ? enter.digest : erasedDigest(redaction);
    this.expected += `${this.#exits === 0 ? '' : CONTENT_SEPARATOR}${index}${KEY_END}${digest}`;
    this.#exits += 1;
    this.#actorOf[offset] = enter.actor;
    if (this.#lastActor !== enter.actor) this.#rememberLast(enter.actor);
    this.#lastIndex = index;
    this.#indexes.push(index);
  }

  #rememberLast(next?: Latin1Text): void {
    if (this.#lastActor !== undefined) this.#lastOf.set(this.#lastActor, this.#lastIndex);
    this.#lastActor = next;
  }

  #exit(offset: number, exit: ExitText | undefined): boolean {
    if (exit === undefined) return true;
    const index = this.#page.begin + offset;
    this.#indexes.push(index);
    const sequenceNo = countOf(exit.sequence_no);
    const enterOffset = sequenceNo - this.#page.begin;
    if (enterOffset < 0) {
      const call = this.#open.get(sequenceNo);
      this.#left.push(sequenceNo);
      return call?.exit_idx === index && call.actor === unescapeText(exit.actor);
    }
    const isOwn = this.#actorOf[enterOffset] === exit.actor && this.#exitOf[enterOffset] === index;
    this.#actorOf[enterOffset] = undefined;
    return isOwn;
  }

  /** Returns undefined if a call has neither an exit in this page nor one that is stored for a later page. */
  finish(): ProvenCalls | undefined {
    const { begin, texts } = this.#page;
    const entered = new Map<number, OpenCall>();
    for (let offset = 0; offset < texts.length; offset += 1) {
      const actor = this.#actorOf[offset];
      if (actor === undefined) continue;
      const exit_idx = this.#exitOf[offset] as number;
      if (exit_idx < begin + texts.length) return undefined;
      entered.set(begin + offset, { actor: unescapeText(actor), exit_idx });
    }
    this.#rememberLast();
    const lastCalls = new Map([...this.#lastOf].map(([actor, sequenceNo]) => [unescapeText(actor), sequenceNo]));
    return { indexes: this.#indexes, exits: this.#exits, entered, lastCalls, left: this.#left };
  }
}

/** Digest of the placeholder for redacted arguments. */
function erasedDigest({ note }: LoggedRedaction): Digest {
  return saltedDigest('arguments', ERASED_SALT, erasedContent('action.enter', note));
}
