import { readHex } from './hex.ts';
import type { Digest } from './sha256.ts';

/**
 * The texts that make up most of a record, written without an object in between: a verifier that has the rows compares
 * texts and need not parse them. Every value is given as it stands in the text: digits for a number, and for a string
 * what JSON puts between its quotation marks.
 */

/** What the text of an enter entry says. */
export interface EnterText {
  readonly actor: string;
  readonly arguments: Digest;
  readonly at: string;
  readonly process_id: string;
}

/** What the text of an exit entry says. */
export interface ExitText {
  readonly actor: string;
  readonly at: string;
  readonly duration_ms: string;
  readonly outcome: string;
  readonly sequence_no: string;
}

/** A string as canonical JSON writes it: one spelling of each character. */
const STRING = String.raw`((?:[^"\\\x00-\x1f]|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*)`;
const DIGEST = '([0-9a-f]{64})';
const NUMBER = '(0|[1-9][0-9]*)';
const ENTER = new RegExp(
  `^\\{"actor":"${STRING}","arguments":"${DIGEST}","at":"${STRING}","kind":"action\\.enter","process_id":"${STRING}","tool":"${STRING}","v":1\\}$`,
);
const EXIT = new RegExp(
  `^\\{"actor":"${STRING}","answer":"${DIGEST}","at":"${STRING}","duration_ms":${NUMBER},"kind":"action\\.exit","outcome":"${STRING}","sequence_no":${NUMBER},"v":1\\}$`,
);

/** Reads the canonical text of an enter entry; undefined for any other text. */
export function readEnter(text: string): EnterText | undefined {
  const [, actor = '', digest = '', at = '', process_id = ''] = ENTER.exec(text) ?? NO_MATCH;
  return digest === '' ? undefined : { actor, arguments: digest, at, process_id };
}

/** Reads the canonical text of an exit entry; undefined for any other text. */
export function readExit(text: string): ExitText | undefined {
  const [, actor = '', answer = '', at = '', duration_ms = '', outcome = '', sequence_no = ''] =
    EXIT.exec(text) ?? NO_MATCH;
  return answer === '' ? undefined : { actor, at, duration_ms, outcome, sequence_no };
}

const NO_MATCH: readonly string[] = [];

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

/** The digest of the extras in the text of a thought's entry; undefined unless it says all the rest. */
export function findExtras(text: string, entry: ThoughtFields): Digest | undefined {
  return between(
    text,
    `{"actor":"${entry.actor}","at":"${entry.at}","attempt":${entry.attempt},"chain_position":${entry.chain_position},"extras":"`,
    `","hash":"${entry.hash}","kind":"thought","session_id":"${entry.session_id}","session_seq":${entry.session_seq},"task_id":"${entry.task_id}","thought_id":"${entry.thought_id}","v":1}`,
  );
}

const DIGEST_BYTES = 32;
const scratch = new Uint8Array(DIGEST_BYTES);

/** What stands between the two, if it is a digest and there is nothing else. */
function between(text: string, head: string, rest: string): Digest | undefined {
  const digest = text.slice(head.length, head.length + DIGEST_BYTES * 2);
  return text === head + digest + rest && readHex(digest, 0, scratch, 0, DIGEST_BYTES) ? digest : undefined;
}

export interface ChainedFields {
  readonly task_id: string;
  readonly type: string;
  readonly content: string;
  readonly previous_hash: Digest | null;
  readonly recorded_at: string;
  readonly recorded_by: string;
}

/** What the hash of a thought is taken of. */
export function chainedText(thought: ChainedFields): string {
  const previous = thought.previous_hash === null ? 'null' : `"${thought.previous_hash}"`;
  return `{"task_id":"${thought.task_id}","type":"${thought.type}","content":"${thought.content}","previous_hash":${previous},"recorded_at":"${thought.recorded_at}","recorded_by":"${thought.recorded_by}"}`;
}
