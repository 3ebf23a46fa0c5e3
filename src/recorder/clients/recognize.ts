import { CLIENTS, type ClientName, type ObservedEvent } from '../event.ts';
import { fromClaudeCode, isClaudeCode } from './claude-code.ts';
import { fromCodex, isCodex } from './codex.ts';
import { fromCopilotCli, isCopilotCli, isCopilotCliAsClaudeCode } from './copilot-cli.ts';
import { fromCursor, isCursor } from './cursor.ts';
import { asObject, type Payload } from './fields.ts';
import { fromGeminiCli, isGeminiCli } from './gemini-cli.ts';
import { observe } from './observe.ts';
import { fromOpencode, isOpencode } from './opencode.ts';
import { fromVsCode, isVsCode } from './vscode.ts';
import { fromWindsurf, isWindsurf } from './windsurf.ts';

/** What the command line and the environment say about the event. */
export interface Hint {
  readonly client?: string | undefined;
  readonly event?: string | undefined;
  /** Shells and agents that Copilot CLI starts inherit its variables. */
  readonly isInCopilotCli?: boolean;
}

interface Client {
  readonly name: ClientName;
  readonly recognizes: (payload: Payload) => boolean;
  readonly toEvent: (payload: Payload, event?: string) => ObservedEvent;
}

/** The most specific shape first: every shape after Gemini CLI is Claude Code's with one field less. */
const SHAPES: readonly Client[] = [
  { name: 'opencode', recognizes: isOpencode, toEvent: fromOpencode },
  { name: 'windsurf', recognizes: isWindsurf, toEvent: fromWindsurf },
  { name: 'cursor', recognizes: isCursor, toEvent: fromCursor },
  { name: 'copilot-cli', recognizes: isCopilotCli, toEvent: fromCopilotCli },
  { name: 'gemini-cli', recognizes: isGeminiCli, toEvent: fromGeminiCli },
  { name: 'codex', recognizes: isCodex, toEvent: fromCodex },
  { name: 'vscode', recognizes: isVsCode, toEvent: fromVsCode },
  { name: 'claude-code', recognizes: isClaudeCode, toEvent: fromClaudeCode },
];

export function toEvent(value: unknown, hint: Hint = {}): ObservedEvent {
  const payload = asObject(value);
  if (payload === undefined) return unreadable('not a JSON object', value, hint);
  const isBorrowed = hint.isInCopilotCli === true && isCopilotCliAsClaudeCode(payload);
  const named = hint.client ?? (isBorrowed ? 'copilot-cli' : undefined);
  const client = SHAPES.find(({ name }) => name === named) ?? SHAPES.find(({ recognizes }) => recognizes(payload));
  if (client === undefined) return unreadable('unknown client', value, hint);
  return client.toEvent(payload, hint.event);
}

/** An event that no client's mapping fits is recorded as such: a gap is never hidden. */
export function unreadable(defect: string, input: unknown, hint: Hint): ObservedEvent {
  const client = CLIENTS.find((name) => name === hint.client) ?? 'unknown';
  const event = observe({ client, event: hint.event ?? 'unreadable', phase: 'other', session: null, input });
  return { ...event, content: { defect } };
}
