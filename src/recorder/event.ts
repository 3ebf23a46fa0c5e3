import type { OBSERVED_ACTIONS, OBSERVED_OUTCOMES, OBSERVED_PHASES } from '../integrity/observed-grammar.ts';
import type { Content } from './content.ts';

export const CLIENTS = [
  'claude-code',
  'codex',
  'gemini-cli',
  'copilot-cli',
  'vscode',
  'cursor',
  'windsurf',
  'opencode',
] as const;

export type ClientName = (typeof CLIENTS)[number];

export type Phase = (typeof OBSERVED_PHASES)[number];
export type Action = (typeof OBSERVED_ACTIONS)[number];

/** `unknown`: the client reports the end of a call, but not whether it succeeded. */
export type EventOutcome = (typeof OBSERVED_OUTCOMES)[number];

/** A call of one of Colibri's own tools, from which the recorder learns which task a session holds. */
export interface ColibriCall {
  readonly tool: string;
  readonly task_id: string | null;
  readonly status: string | null;
  readonly claim: number | null;
  /** Whether the answer was readable. Without one, the status is only what the call asked for. */
  readonly answered: boolean;
  /** Whether the caller holds the task; absent if the answer does not tell. */
  readonly holds?: boolean;
}

/** One event of any client. Only the files in clients/ know a client's JSON. */
export interface ObservedEvent {
  readonly client: ClientName | 'unknown';
  readonly clientVersion: string | null;
  /** Empty if the client names none. */
  readonly session: string;
  readonly agent: string | null;
  readonly model: string | null;
  /** The client's own name of the event. */
  readonly event: string;
  readonly phase: Phase;
  readonly tool: string | null;
  readonly action: Action | null;
  readonly callId: string | null;
  readonly outcome: EventOutcome | null;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  /** The client's own time of the event in milliseconds, for clients without call ids. */
  readonly timestamp: number | null;
  /** JSON values as reported; undefined if there is none. Only their digests are stored. */
  readonly input: unknown;
  readonly output: unknown;
  readonly content: Content;
  readonly colibri: ColibriCall | null;
  readonly transcriptPath: string | null;
  /** The project folder that the event names. */
  readonly folder: string | null;
}
