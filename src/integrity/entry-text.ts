import { readHex } from './hex.ts';
import type { Digest } from './sha256.ts';

/**
 * The texts that make up most of a record, written without an object in between: a verifier that has the rows compares
 * texts and need not parse them. Every value is given as it stands in the text: digits for a number, and for a string
 * what JSON puts between its quotation marks.
 */

export interface EnterFields {
  readonly actor: string;
  readonly arguments: Digest;
  readonly at: string;
  readonly process_id: string;
  readonly tool: string;
}

export function enterText(entry: EnterFields): string {
  return `{"actor":"${entry.actor}","arguments":"${entry.arguments}","at":"${entry.at}","kind":"action.enter","process_id":"${entry.process_id}","tool":"${entry.tool}","v":1}`;
}

export interface ExitFields {
  readonly actor: string;
  readonly at: string;
  readonly duration_ms: string;
  readonly outcome: string;
  readonly sequence_no: string;
}

const DIGEST_BYTES = 32;
const scratch = new Uint8Array(DIGEST_BYTES);

/** Whether this is the text of an exit entry that says so, whatever the digest of the answer may be. */
export function isExitText(text: string, entry: ExitFields): boolean {
  const head = `{"actor":"${entry.actor}","answer":"`;
  const rest = `","at":"${entry.at}","duration_ms":${entry.duration_ms},"kind":"action.exit","outcome":"${entry.outcome}","sequence_no":${entry.sequence_no},"v":1}`;
  return (
    text.length === head.length + DIGEST_BYTES * 2 + rest.length &&
    text.startsWith(head) &&
    text.endsWith(rest) &&
    readHex(text, head.length, scratch, 0, DIGEST_BYTES)
  );
}

export interface ThoughtFields {
  readonly actor: string;
  readonly at: string;
  readonly attempt: string;
  readonly chain_position: string;
  readonly extras: Digest;
  readonly hash: Digest;
  readonly session_id: string;
  readonly session_seq: string;
  readonly task_id: string;
  readonly thought_id: string;
}

export function thoughtText(entry: ThoughtFields): string {
  return `{"actor":"${entry.actor}","at":"${entry.at}","attempt":${entry.attempt},"chain_position":${entry.chain_position},"extras":"${entry.extras}","hash":"${entry.hash}","kind":"thought","session_id":"${entry.session_id}","session_seq":${entry.session_seq},"task_id":"${entry.task_id}","thought_id":"${entry.thought_id}","v":1}`;
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
