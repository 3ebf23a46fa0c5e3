import { isCanonicalText } from './canonical-text.ts';
import {
  commitHash,
  digest,
  digits32,
  distinctListOf,
  type Fields,
  type Form,
  line,
  listOf,
  objectDefect,
  oneOf,
  optional,
  taskId,
  wholeNumber,
} from './forms.ts';
import { parseJson } from './parse-json.ts';
import { sha256 } from './sha256.ts';

/** Where an event stands in the life of a session or of a tool call. */
export const OBSERVED_PHASES = [
  'before',
  'after',
  'failed',
  'session_start',
  'stop',
  'subagent_stop',
  'session_end',
  'other',
] as const;

export const OBSERVED_OUTCOMES = ['ok', 'failed', 'unknown'] as const;

/** The recorder is not an agent: what it reports was seen by a client or by git. */
export const RECORDER_PREFIX = 'hook:';

const recorder: Form = {
  says: `the name of a recorder (${RECORDER_PREFIX}…)`,
  holds: (value) =>
    typeof value === 'string' && value.length > RECORDER_PREFIX.length && value.startsWith(RECORDER_PREFIX),
};

/** What makes two reports of one event equal, so that it is recorded once: 16 bytes in hexadecimal. */
const key: Form = digits32;

/**
 * The key of a commit, under which `observations` finds it by its full hash. A rewrite is an observation of its own,
 * because one commit can rewrite several others.
 */
export function commitKey(sha: string, rewrites?: string): string {
  const rewritten = rewrites === undefined ? [] : [rewrites.toLowerCase()];
  return sha256(['colibri:observed-commit:v1', sha.toLowerCase(), ...rewritten].join('\n')).slice(0, 32);
}

/** What a tool does, whatever the client calls it. */
export const OBSERVED_ACTIONS = ['shell', 'edit', 'read', 'mcp', 'other'] as const;

/** Instead of a task: a sub-agent that has claimed one itself holds none any more. */
export const NO_TASK = 'none';

const taskOrNone: Form = {
  says: `${taskId.says} or ${NO_TASK}`,
  holds: (value) => value === NO_TASK || taskId.holds(value),
};

const COMMON: Fields = { actor: recorder, key, content: digest };
const SESSION: Fields = { ...COMMON, client: line(64), session: line(256) };
const count = wholeNumber(0);

/** Tokens of the responses of a model, each counted in one of these fields. */
export const TOKEN_COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
] as const;

/** The fields of the kinds that the recorder appends, beside those that every entry has. */
export const OBSERVED_FIELDS = {
  observed: {
    ...SESSION,
    client_version: optional(line(128)),
    agent: optional(line(256)),
    model: optional(line(128)),
    event: line(128),
    phase: oneOf(OBSERVED_PHASES),
    tool: optional(line(256)),
    action: optional(oneOf(OBSERVED_ACTIONS)),
    call_id: optional(line(256)),
    outcome: optional(oneOf(OBSERVED_OUTCOMES)),
    exit_code: optional(wholeNumber(0, 2 ** 32 - 1)),
    duration_ms: optional(wholeNumber(0)),
    task_id: optional(taskId),
    session_task: optional(taskId),
    agent_task: optional(taskOrNone),
    claim: optional(wholeNumber(0)),
    input: optional(digest),
    output: optional(digest),
  },
  'observed.commit': {
    ...COMMON,
    sha: commitHash,
    tree: commitHash,
    parents: distinctListOf(commitHash, 64),
    rewrites: optional(commitHash),
    task_id: optional(taskId),
  },
  'observed.coverage': {
    ...SESSION,
    agent: optional(line(256)),
    seen: count,
    recorded: count,
  },
  'observed.usage': {
    ...SESSION,
    agent: optional(line(256)),
    model: line(128),
    responses: count,
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: count,
    cache_write_1h_tokens: count,
    task_id: optional(taskId),
  },
} as const satisfies Readonly<Record<string, Fields>>;

/** More open calls of one session are not tracked. */
const MAX_OPEN_CALLS = 100;

/** The calls of a session that began and did not end: the entry of the beginning by call id. */
export type OpenCalls = Readonly<Record<string, number>>;

/** The open calls of a session after an entry. */
export function openCallsAfter(open: OpenCalls, entry: Readonly<Record<string, unknown>>, index: number): OpenCalls {
  const { phase, call_id: id } = entry;
  if (typeof id !== 'string') return open;
  const { [id]: _closed, ...others } = open;
  if (phase === 'after' || phase === 'failed') return others;
  const isTracked = phase === 'before' && Object.keys(others).length < MAX_OPEN_CALLS;
  return isTracked ? { ...others, [id]: index } : open;
}

/** Which task a session or a sub-agent holds after an `observed` entry. */
export interface Attachment {
  /** Names the session, or its sub-agent. */
  readonly key: string;
  readonly task: string | undefined;
  /** The fencing token of a claim that the entry tells about. */
  readonly claim: number | undefined;
}

/** The fields of an entry that tell who holds which task. */
interface AttachedFields {
  readonly kind: string;
  readonly session?: unknown;
  readonly agent?: unknown;
  readonly task_id?: unknown;
  readonly session_task?: unknown;
  readonly agent_task?: unknown;
  readonly claim?: unknown;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** No name has a control character, so the key of a sub-agent is that of no session and of no other sub-agent. */
export function subagentKey(session: unknown, agent: unknown): string {
  return `${textOf(session)}\n${textOf(agent)}`;
}

/** The keys of all sub-agents of a session are between these two. */
export function subagentKeys(session: string): readonly [string, string] {
  return [`${session}\n`, `${session}\u000b`];
}

/** The attachment of the session; the second one is that of a sub-agent that has claimed a task itself. */
export function listAttachments(entry: AttachedFields): readonly [Attachment, ...Attachment[]] {
  const { session, agent, session_task: held, agent_task: own } = entry;
  const claim = typeof entry.claim === 'number' ? entry.claim : undefined;
  const ownTask = typeof own === 'string' && own !== NO_TASK ? own : undefined;
  const ofSession = {
    key: textOf(session),
    task: typeof held === 'string' ? held : undefined,
    claim: ownTask === undefined ? claim : undefined,
  };
  if (own === undefined) return [ofSession];
  const ownClaim = ownTask === undefined ? undefined : claim;
  return [ofSession, { key: subagentKey(session, agent), task: ownTask, claim: ownClaim }];
}

/** The attachment to which the event of an entry belongs. */
export function attachmentOf(entry: AttachedFields): Attachment {
  const [ofSession, ofAgent = ofSession] = listAttachments(entry);
  return ofAgent;
}

/**
 * The keys of the attachments for which an entry decides what belongs to a task after it was given up: that of the
 * event, and that of a session without a task whose sub-agent gives one up, because the main agent may go on with it.
 */
export function decidedKeys(entry: AttachedFields): readonly [string, ...string[]] {
  const [ofSession, ofAgent] = listAttachments(entry);
  if (ofAgent === undefined) return [ofSession.key];
  const isGivenUp = ofAgent.task === undefined && entry.task_id !== undefined;
  return isGivenUp && ofSession.task === undefined ? [ofAgent.key, ofSession.key] : [ofAgent.key];
}

/** The fencing token of an attachment after an entry; null without a task, or if the claim is unknown. */
export function claimAfterEvent(before: SessionClaim, { task, claim }: Attachment): number | null {
  if (claim !== undefined) return claim;
  return task !== undefined && task === before.task ? before.claim : null;
}

export interface SessionClaim {
  /** The task that was held before the entry, if any. */
  readonly task: unknown;
  readonly claim: number | null;
}

/** The session that an entry reports about as a whole; null for an event and for a commit. */
export function reportSession(entry: Readonly<Record<string, unknown>>): string | null {
  const isReport = entry['kind'] === 'observed.coverage' || entry['kind'] === 'observed.usage';
  return isReport ? (entry['session'] as string) : null;
}

/** Longer texts are cut before they are stored. */
export const MAX_SHOWN_LENGTH = 16_384;

/** Call ids of a coverage report; the number of missing calls follows from its counts. */
export const MAX_MISSING = 1000;

const shown: Form = {
  says: `a text of at most ${MAX_SHOWN_LENGTH} UTF-16 units`,
  holds: (value) => typeof value === 'string' && value.length <= MAX_SHOWN_LENGTH,
  shape: { is: 'text', most: MAX_SHOWN_LENGTH, breaks: true, visible: false },
};

export const OBSERVED_CONTENT: Readonly<Record<keyof typeof OBSERVED_FIELDS, Fields>> = {
  observed: {
    command: optional(shown),
    path: optional(shown),
    input: optional(shown),
    output: optional(shown),
    defect: optional(shown),
    exit_code: optional(wholeNumber(Number.MIN_SAFE_INTEGER)),
    cut: optional(oneOf([true])),
  },
  'observed.commit': { branch: optional(line(256)), paths: listOf(line(4096), 1000), cut: optional(oneOf([true])) },
  'observed.coverage': {
    missing: listOf(line(256), MAX_MISSING),
    cut: optional(oneOf([true])),
    defect: optional(line(256)),
  },
  'observed.usage': {},
};

/** What is wrong between the counts of a coverage report and its list of missing calls. Both have their forms. */
export function coverageDefect(entry: Readonly<Record<string, unknown>>, content: string): string | undefined {
  const missing = Number(entry['seen']) - Number(entry['recorded']);
  if (missing < 0) return 'reports more recorded calls than there were';
  const { missing: listed, cut } = parseJson(content) as { missing: string[]; cut?: true };
  const isListed = listed.length === Math.min(missing, MAX_MISSING) && (cut === true) === missing > MAX_MISSING;
  return isListed ? undefined : 'lists another number of missing calls than its counts say';
}

/** What is wrong with the stored content of an observation. */
export function observedContentDefect(kind: keyof typeof OBSERVED_FIELDS, content: string): string | undefined {
  return isCanonicalText(content) ? objectDefect(OBSERVED_CONTENT[kind], parseJson(content)) : 'is not canonical JSON';
}
