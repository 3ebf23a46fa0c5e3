import { readHex } from './hex.ts';
import type { Digest } from './sha256.ts';

/**
 * The texts that make up most of a record, written without an object in between: a verifier that has the rows compares
 * texts and need not parse them. Every value is given as it stands in the text: digits for a number, and for a string
 * what JSON puts between its quotation marks.
 */

export interface EnterFields {
  readonly actor: string;
  readonly at: string;
  readonly process_id: string;
  readonly tool: string;
}

/** The digest of the arguments in the text of an enter entry; undefined unless it says all the rest. */
export function findArguments(text: string, entry: EnterFields): Digest | undefined {
  return between(
    text,
    `{"actor":"${entry.actor}","arguments":"`,
    `","at":"${entry.at}","kind":"action.enter","process_id":"${entry.process_id}","tool":"${entry.tool}","v":1}`,
  );
}

export interface ExitFields {
  readonly actor: string;
  readonly at: string;
  readonly duration_ms: string;
  readonly outcome: string;
  readonly sequence_no: string;
}

/** The digest of the answer in the text of an exit entry; undefined unless it says all the rest. */
export function findAnswer(text: string, entry: ExitFields): Digest | undefined {
  return between(
    text,
    `{"actor":"${entry.actor}","answer":"`,
    `","at":"${entry.at}","duration_ms":${entry.duration_ms},"kind":"action.exit","outcome":"${entry.outcome}","sequence_no":${entry.sequence_no},"v":1}`,
  );
}

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
