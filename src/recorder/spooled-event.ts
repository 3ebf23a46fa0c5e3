import type { HookConfig } from '../config.ts';
import { canonicalize, type Json } from '../integrity/canonical-json.ts';
import { type Salt, saltedDigest } from '../integrity/entry.ts';
import { OBSERVED_ACTIONS, OBSERVED_OUTCOMES, OBSERVED_PHASES } from '../integrity/observed-grammar.ts';
import { parseJson } from '../integrity/parse-json.ts';
import { sha256 } from '../integrity/sha256.ts';
import { findText } from './clients/observe.ts';
import { contentTexts, writeContent } from './content.ts';
import { type Action, CLIENTS, type ColibriCall, type ObservedEvent, type Phase } from './event.ts';
import { blankAll } from './secrets/blank.ts';

/** Characters of readable content. */
const CONTENT_LENGTHS: Readonly<Record<HookConfig['level'], number>> = { digests: 0, excerpts: 4096, full: 16_384 };

/** An event as a spool file contains it. No text of it holds a known shape of secret. */
export interface SpooledEvent {
  readonly v: 1;
  readonly key: string;
  readonly at: string;
  readonly client: string;
  readonly client_version: string | null;
  readonly session: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly event: string;
  readonly phase: Phase;
  readonly tool: string | null;
  readonly action: Action | null;
  readonly call_id: string | null;
  readonly outcome: ObservedEvent['outcome'];
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly salt: Salt;
  /** Salted digests of the canonical JSON. */
  readonly input: string | null;
  readonly output: string | null;
  /** Canonical JSON of the readable content. */
  readonly content: string | null;
  readonly colibri: ColibriCall | null;
  readonly transcript_path: string | null;
}

export interface RecordOptions {
  readonly at: Date;
  readonly salt: Salt;
  readonly level: HookConfig['level'];
}

export function toSpooled(event: ObservedEvent, { at, salt, level }: RecordOptions): SpooledEvent {
  const input = event.input === undefined ? null : jsonText(event.input);
  const output = event.output === undefined ? null : jsonText(event.output);
  const blanked = blankAll({
    ...contentTexts(event.content, CONTENT_LENGTHS[level]),
    client_version: start(event.clientVersion),
    session: start(event.session),
    agent: start(event.agent),
    model: start(event.model),
    event: start(event.event),
    tool: start(event.tool),
    call_id: start(event.callId),
    transcript_path: start(event.transcriptPath, MAX_PATH_LENGTH),
    task_id: start(event.colibri?.task_id ?? null),
    status: start(event.colibri?.status ?? null),
    key_input: (input ?? '').slice(0, KEY_TEXT_LENGTH),
    key_output: (findText(event.output) ?? '').slice(0, KEY_TEXT_LENGTH).toWellFormed(),
  });
  return {
    v: 1,
    key: observedKey(event, `${input?.length ?? 0} ${blanked.key_input ?? ''} ${blanked.key_output ?? ''}`, at),
    at: at.toISOString(),
    client: event.client,
    client_version: identifier(blanked.client_version, event.clientVersion),
    session: identifier(blanked.session, event.session) ?? '',
    agent: identifier(blanked.agent, event.agent),
    model: identifier(blanked.model, event.model),
    event: identifier(blanked.event, event.event) ?? '',
    phase: event.phase,
    tool: identifier(blanked.tool, event.tool),
    action: event.action,
    call_id: identifier(blanked.call_id, event.callId),
    outcome: event.outcome,
    exit_code: event.exitCode,
    duration_ms: event.durationMs,
    salt,
    input: input === null ? null : saltedDigest('observed-input', salt, input),
    output: output === null ? null : saltedDigest('observed-output', salt, output),
    content: writeContent(blanked, event.content.exit_code, CONTENT_LENGTHS[level]),
    colibri: event.colibri && {
      ...event.colibri,
      task_id: identifier(blanked.task_id, event.colibri.task_id),
      status: identifier(blanked.status, event.colibri.status),
    },
    transcript_path: identifier(blanked.transcript_path, event.transcriptPath, MAX_PATH_LENGTH),
  };
}

/** Parses a spool file; undefined unless `toSpooled` could have written it. */
export function parseSpooled(text: string): SpooledEvent | undefined {
  try {
    const value = parseJson(text);
    return isSpooled(value) && canonicalize(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

export function encodeSpooled(event: SpooledEvent): string {
  return canonicalize(event);
}

const MAX_IDENTIFIER_LENGTH = 128;
const MAX_PATH_LENGTH = 1024;
const CUT_HASH_LENGTH = 16;
/** Characters of input and output in the key of a call without an id: they distinguish two calls of one millisecond. */
const KEY_TEXT_LENGTH = 4096;

/**
 * Two reports of one call have the same key, whichever client made them. Computed from the identifiers as reported,
 * because two that were cut or blanked could become equal. The key is public, so the texts come without secrets.
 */
function observedKey(event: ObservedEvent, texts: string, at: Date): string {
  const { session, callId, phase, timestamp } = event;
  const call = callId ?? [timestamp ?? at.getTime(), subjectOf(event), sha256(texts.toWellFormed())].join(' ');
  return callKey(session, call, phase);
}

/** The key of what a client reports in a phase of a call, by the ids as it spells them. */
export function callKey(session: string, call: string, phase: Phase): string {
  // JSON escapes line breaks, which separate the fields, and lone surrogates.
  const fields = [session, call, phase].map((field) => JSON.stringify(field).slice(1, -1));
  return sha256(`colibri:observed:v1\n${fields.join('\n')}`).slice(0, 32);
}

/** Copilot CLI calls one tool bash or Bash, create or Write, and one event sessionStart or SessionStart. */
function subjectOf({ action, tool, phase, event, agent }: ObservedEvent): string {
  if (phase === 'subagent_stop') return agent ?? '';
  if (action === 'shell' || action === 'edit' || action === 'read') return action;
  return (tool ?? (phase === 'other' ? event : '')).toLowerCase();
}

/** Input without canonical JSON still gets a digest. The text is well-formed in every case. */
export function jsonText(value: unknown): string {
  try {
    return canonicalize(value);
  } catch {
    try {
      return JSON.stringify(value) ?? 'null';
    } catch {
      // Not JSON, so that it differs from the text of every value.
      return 'nested too deeply';
    }
  }
}

/** An identifier of a client as an entry may contain it: without secrets, without control characters, not too long. */
export function cleanIdentifier(whole: string): string {
  const blanked = blankAll({ whole: start(whole) }).whole;
  const clean = identifier(blanked, whole) ?? '';
  return clean.trim() === '' ? UNNAMED : clean;
}

/** Stands for an identifier that the client left empty. */
export const UNNAMED = 'unnamed';

/** More than is kept, so that a secret at the cut is still recognized. */
function start(text: string | null, maxLength = MAX_IDENTIFIER_LENGTH): string | null {
  return text === null ? null : text.slice(0, maxLength * 8).toWellFormed();
}

/** An identifier without control characters. A long one keeps its beginning and a hash of the whole. */
function identifier(blanked: string | null, whole: string | null, maxLength = MAX_IDENTIFIER_LENGTH): string | null {
  if (blanked === null || whole === null) return null;
  const clean = blanked.replaceAll(/\p{Cc}/gu, '\ufffd');
  if (clean.length <= maxLength) return clean;
  const kept = clean.slice(0, maxLength - CUT_HASH_LENGTH - 1).toWellFormed();
  return `${kept}~${sha256(whole.toWellFormed()).slice(0, CUT_HASH_LENGTH)}`;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value);
const isHex = (length: number): Check => {
  const pattern = new RegExp(`^[0-9a-f]{${length}}$`);
  return (value) => typeof value === 'string' && pattern.test(value);
};
const oneOf =
  (values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isTime: Check = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

const isFlag: Check = (value) => typeof value === 'boolean';

const COLIBRI_FIELDS: Readonly<Record<Exclude<keyof ColibriCall, 'holds'>, Check>> = {
  tool: isText,
  task_id: orNull(isText),
  status: orNull(isText),
  claim: orNull(isCount),
  answered: isFlag,
};
const isColibriCall: Check = (value) =>
  hasExactly(value, COLIBRI_FIELDS) || hasExactly(value, { ...COLIBRI_FIELDS, holds: isFlag });

const SPOOLED_FIELDS: Readonly<Record<keyof SpooledEvent, Check>> = {
  v: (value) => value === 1,
  key: isHex(32),
  at: isTime,
  client: oneOf([...CLIENTS, 'unknown']),
  client_version: orNull(isText),
  session: isText,
  agent: orNull(isText),
  model: orNull(isText),
  event: isText,
  phase: oneOf(OBSERVED_PHASES),
  tool: orNull(isText),
  action: orNull(oneOf(OBSERVED_ACTIONS)),
  call_id: orNull(isText),
  outcome: orNull(oneOf(OBSERVED_OUTCOMES)),
  exit_code: orNull(isCount),
  duration_ms: orNull(isCount),
  salt: isHex(32),
  input: orNull(isHex(64)),
  output: orNull(isHex(64)),
  content: orNull(isText),
  colibri: orNull(isColibriCall),
  transcript_path: orNull(isText),
};

function isSpooled(value: unknown): value is SpooledEvent & Json {
  return hasExactly(value, SPOOLED_FIELDS);
}

function hasExactly(value: unknown, fields: Readonly<Record<string, Check>>): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.entries(value);
  const isField = ([name, member]: [string, unknown]) => Object.hasOwn(fields, name) && fields[name]?.(member) === true;
  return members.length === Object.keys(fields).length && members.every(isField);
}
