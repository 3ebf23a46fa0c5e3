import type { Action, ClientName, ObservedEvent, Phase } from '../event.ts';
import { findAction, findPath } from './actions.ts';
import { isRefused, readColibriCall } from './colibri-call.ts';
import { asObject, member, text } from './fields.ts';

/** The tool of an MCP server; the server is null if the client does not name it. */
export interface McpTool {
  readonly server: string | null;
  readonly tool: string;
}

/** What a client reports. Everything that is not set was not reported. */
export interface Report {
  readonly client: ClientName | 'unknown';
  readonly event: string;
  readonly phase: Phase;
  readonly session: string | null;
  readonly clientVersion?: string | null;
  readonly agent?: string | null;
  readonly model?: string | null;
  readonly tool?: string | null;
  readonly mcp?: McpTool | null;
  readonly action?: Action;
  readonly callId?: string | null;
  readonly timestamp?: number | null;
  readonly durationMs?: number | null;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly exitCode?: number | null;
  readonly hasFailed?: boolean;
  /** False if the client reports the end of failed calls in the same way. */
  readonly tellsFailures?: boolean;
  readonly transcriptPath?: string | null;
  readonly folder?: string | null;
}

/** Derives what is the same for all clients. */
export function observe(report: Report): ObservedEvent {
  const { client, event, phase, session, tool = null, mcp = null, input, output } = report;
  const action = tool === null ? null : (report.action ?? (mcp === null ? findAction(tool) : 'mcp'));
  const reported = action === 'shell' ? (report.exitCode ?? null) : null;
  const exitCode = reported !== null && reported >= 0 && reported < 2 ** 32 ? reported : null;
  const answer = findText(output);
  const command = action === 'shell' ? findCommand(input) : undefined;
  const colibri = readColibriCall(mcp, input, output, answer);
  const hasFailed = report.hasFailed === true || (colibri !== null && isRefused(output, answer));
  const outcome = judge({ ...report, hasFailed }, action, reported);
  const isFile = action === 'edit' || action === 'read';
  // A path says enough: the content of a file is not repeated.
  const showsInput = action === 'mcp' || action === 'other';
  const showsOutput = action !== null && (!isFile || outcome === 'failed');
  return {
    client,
    clientVersion: report.clientVersion ?? null,
    session: session ?? '',
    agent: report.agent ?? null,
    model: report.model ?? null,
    event,
    phase,
    tool,
    action,
    callId: report.callId ?? null,
    outcome,
    exitCode,
    durationMs: toDuration(report.durationMs),
    timestamp: report.timestamp ?? null,
    input,
    output,
    content: {
      command,
      path: isFile ? findPath(input) : undefined,
      exit_code: exitCode ?? undefined,
      input: showsInput ? excerptOf(input) : undefined,
      output: showsOutput ? answer : undefined,
    },
    colibri,
    transcriptPath: report.transcriptPath ?? null,
    folder: report.folder ?? null,
  };
}

function judge(report: Report, action: Action | null, exitCode: number | null): ObservedEvent['outcome'] {
  const { phase, hasFailed = false, tellsFailures = true } = report;
  if (phase === 'failed') return 'failed';
  if (phase !== 'after') return null;
  if (hasFailed || (exitCode ?? 0) !== 0) return 'failed';
  if (exitCode === 0) return 'ok';
  return action === 'shell' || !tellsFailures ? 'unknown' : 'ok';
}

function toDuration(duration: number | null | undefined): number | null {
  return duration !== null && duration !== undefined && duration >= 0 ? duration : null;
}

function findCommand(input: unknown): string | undefined {
  const command = member(input, 'command', 'cmd', 'command_line', 'script');
  // Codex has passed a list of arguments.
  if (Array.isArray(command)) return command.filter((part) => typeof part === 'string').join(' ');
  return typeof command === 'string' ? command : undefined;
}

/** Where clients put the text of an answer, the most specific first. */
const TEXT_MEMBERS = ['textResultForLlm', 'text_result_for_llm', 'llmContent', 'stdout', 'output', 'text', 'error'];

/** The text of an answer, which may be a text, a record with one, or a list of text blocks. */
export function findText(output: unknown, depth = 0): string | undefined {
  if (typeof output === 'string') return output;
  if (depth > 3 || output === null || typeof output !== 'object') return undefined;
  if (Array.isArray(output)) {
    const texts = output.slice(0, 100).map((block) => findText(block, depth + 1));
    return texts.filter((block) => block !== undefined).join('\n') || undefined;
  }
  const name = TEXT_MEMBERS.find((candidate) => member(output, candidate) !== undefined);
  const found = name === undefined ? findText(member(output, 'content'), depth + 1) : member(output, name);
  const errors = text(output, 'stderr');
  const main = findText(found, depth + 1);
  return errors === null ? main : [main ?? '', errors].join('\n').trimStart();
}

const MAX_EXCERPT_DEPTH = 20;

/** JSON of an input that is short and flat enough to be read. */
function excerptOf(input: unknown): string | undefined {
  if (asObject(input) === undefined && !Array.isArray(input)) return typeof input === 'string' ? input : undefined;
  return depthOf(input) > MAX_EXCERPT_DEPTH ? undefined : JSON.stringify(input);
}

function depthOf(value: unknown, depth = 0): number {
  if (depth > MAX_EXCERPT_DEPTH || typeof value !== 'object' || value === null) return depth;
  return Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner, depth + 1)), depth);
}
