import { isOutcome } from './outcomes.ts';
import { isTime } from './primitives/iso-time.ts';
import type { Digest } from './sha256.ts';

/**
 * The most frequent entries, read from and compared with their canonical texts without building an object. A value is
 * given as it stands in the text: digits for a number, JSON escapes for a string. The texts may be Latin-1 strings of
 * UTF-8 bytes.
 */

export interface EnterText {
  readonly actor: string;
  /** 64 characters that the caller must compare with the digest of the arguments. */
  readonly digest: Digest;
}

export interface ExitText {
  readonly actor: string;
  readonly sequence_no: string;
}

/** Reads the text of an enter entry; undefined unless the text is canonical and conforms to the grammar. */
export function readEnter(text: string): EnterText | undefined {
  const found = text.length <= MAX_LENGTH ? ENTER.exec(text) : null;
  if (found === null) return undefined;
  const [, actor = '', digest = '', at = ''] = found;
  return isTime(at) ? { actor, digest } : undefined;
}

/** Reads the text of an exit entry; undefined unless the text is canonical and conforms to the grammar. */
export function readExit(text: string): ExitText | undefined {
  const found = text.length <= MAX_LENGTH ? EXIT.exec(text) : null;
  if (found === null) return undefined;
  const [, actor = '', at = '', outcome = '', sequence_no = ''] = found;
  return isTime(at) && (outcome === 'ok' || isOutcome(outcome)) ? { actor, sequence_no } : undefined;
}

/** No honest entry is longer. An expression could run out of stack at a text with a million escapes. */
const MAX_LENGTH = 100_000;

const DIGEST_DIGITS = 64;

/** The text of a string in canonical JSON, in which each character has one form. */
const PLAIN = String.raw`[ !#-[\]-\uffff]*`;
const STRING = String.raw`${PLAIN}(?:\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))${PLAIN})*`;
/** Written out, because the engine compiles a counted repetition into a loop, which takes more than twice as long. */
const hex = (digits: number) => '[0-9a-f]'.repeat(digits);
const any = (characters: number) => '[^"]'.repeat(characters);
/** `isTime` checks the rest. */
const TIME = any('2026-04-08T22:15:30.000Z'.length);
/** More digits may not be exact as a number. */
const COUNT = String.raw`[1-9]\d{0,14}`;
const UUID = `${hex(8)}-${hex(4)}-4${hex(3)}-[89ab]${hex(3)}-${hex(12)}`;

/**
 * Compiled to machine code: faster than any reader in JavaScript, above all because the texts are parts of one text.
 */
const ENTER = new RegExp(
  String.raw`^\{"actor":"(${STRING})","arguments":"(${any(DIGEST_DIGITS)})","at":"(${TIME})","kind":"action\.enter","process_id":"${UUID}","tool":"${STRING}","v":1\}$`,
);
const EXIT = new RegExp(
  String.raw`^\{"actor":"(${STRING})","answer":"${hex(DIGEST_DIGITS)}","at":"(${TIME})","duration_ms":(?:0|${COUNT}),"kind":"action\.exit","outcome":"(\w+)","sequence_no":(${COUNT}),"v":1\}$`,
);

export interface ThoughtFields {
  readonly actor: string;
  readonly at: string;
  readonly attempt: string;
  readonly chain_position: string;
  readonly hash: Digest;
  readonly session_id: string;
  readonly session_seq: string;
  readonly task_id: string;
  readonly thought_id: string;
}

/**
 * Returns the 64 characters at the position of the extras digest, for the caller to compare; undefined
 * unless the rest of the text is the entry of exactly these fields.
 */
export function findExtras(text: string, entry: ThoughtFields): Digest | undefined {
  const head = `{"actor":"${entry.actor}","at":"${entry.at}","attempt":${entry.attempt},"chain_position":${entry.chain_position},"extras":"`;
  const extras = text.slice(head.length, head.length + DIGEST_DIGITS);
  const whole = `${head}${extras}","hash":"${entry.hash}","kind":"thought","session_id":"${entry.session_id}","session_seq":${entry.session_seq},"task_id":"${entry.task_id}","thought_id":"${entry.thought_id}","v":1}`;
  return extras.length === DIGEST_DIGITS && whole === text ? extras : undefined;
}

export interface ChainedFields {
  readonly task_id: string;
  readonly type: string;
  readonly content: string;
  readonly previous_hash: Digest | null;
  readonly recorded_at: string;
  readonly recorded_by: string;
}

/** The text that the hash of a thought covers. */
export function chainedText(thought: ChainedFields): string {
  const previous = thought.previous_hash === null ? 'null' : `"${thought.previous_hash}"`;
  return `{"task_id":"${thought.task_id}","type":"${thought.type}","content":"${thought.content}","previous_hash":${previous},"recorded_at":"${thought.recorded_at}","recorded_by":"${thought.recorded_by}"}`;
}
