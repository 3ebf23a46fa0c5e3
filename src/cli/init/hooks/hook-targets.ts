import type { Client, LaunchCommand } from '../clients.ts';
import { type HookLine, hookLine } from './hook-command.ts';
import { type OffSwitch, switchOff, switchOffByName } from './off-switch.ts';

/** A file by which clients learn which command gets their events. */
export interface HookTarget {
  /** The clients that read it. */
  readonly clients: readonly string[];
  /** The file in a project, and the one below the home folder. */
  readonly project: string;
  readonly global: string;
  /** A plug-in is a program of its own; the others have lists of commands. */
  readonly lists: HookLists | undefined;
  /** Settings that keep its clients from running hooks, and the files of a project for them, the strongest first. */
  readonly offSwitches?: readonly OffSwitch[];
  readonly settings?: readonly string[];
  /** What its users must still do. */
  readonly nextSteps: Readonly<Record<string, string>>;
}

export interface HookLists {
  /** What a new file has beside the hooks. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly item: (event: string, command: LaunchCommand) => Readonly<Record<string, unknown>>;
}

const TIMEOUT_S = 5;

/** After-events and the events of a session. */
const CLAUDE_EVENTS = ['SessionStart', 'PostToolUse', 'PostToolUseFailure', 'Stop', 'SubagentStop', 'SessionEnd'];

/** Each event has groups of hooks; only the groups of tool events have a matcher. */
function grouped(event: string, hook: object): Record<string, unknown> {
  return { ...(/Tool/.test(event) && { matcher: '*' }), hooks: [hook] };
}

const lists = (
  events: readonly string[],
  args: (event: string) => readonly string[],
  item: (event: string, line: HookLine) => Record<string, unknown>,
  header: Readonly<Record<string, unknown>> = {},
): HookLists => ({ header, events, item: (event, command) => item(event, hookLine(command, args(event))) });

export const HOOK_TARGETS: readonly HookTarget[] = [
  {
    clients: ['claude-code'],
    // Not the shared file: whether to record, and by which program, is the choice of each user.
    project: '.claude/settings.local.json',
    global: '.claude/settings.json',
    // VS Code, Copilot CLI and Cursor read this file too: the shape of an event tells who reports it.
    lists: lists(
      CLAUDE_EVENTS,
      () => [],
      (event, { shell }) => grouped(event, { type: 'command', command: shell, timeout: TIMEOUT_S }),
    ),
    offSwitches: [switchOff(['disableAllHooks'], true)],
    settings: ['.claude/settings.local.json', '.claude/settings.json'],
    nextSteps: { 'claude-code': 'restart claude; /hooks then lists the command' },
  },
  {
    clients: ['codex'],
    project: '.codex/hooks.json',
    global: '.codex/hooks.json',
    // A failed MCP call has no after-event.
    lists: lists(
      ['SessionStart', 'PreToolUse', 'PostToolUse', 'Stop', 'Interrupt', 'SubagentStop', 'SessionEnd'],
      () => ['--client', 'codex'],
      // Codex caps the timeout of SessionEnd, and warns about a longer one at every start.
      (event, { shell }) =>
        grouped(event, { type: 'command', command: shell, timeout: event === 'SessionEnd' ? 3 : TIMEOUT_S }),
    ),
    nextSteps: {
      codex: 'start codex, open /hooks and trust the command; Codex runs no hook before, and reports no exit codes',
    },
  },
  {
    clients: ['cursor'],
    project: '.cursor/hooks.json',
    global: '.cursor/hooks.json',
    lists: lists(
      ['sessionStart', 'postToolUse', 'postToolUseFailure', 'stop', 'subagentStop', 'sessionEnd'],
      () => ['--client', 'cursor'],
      (_event, { shell }) => ({ command: shell, timeout: TIMEOUT_S }),
      { version: 1 },
    ),
    nextSteps: { cursor: 'restart Cursor and trust the folder; Settings > Hooks then lists the command' },
  },
  {
    clients: ['gemini'],
    project: '.gemini/settings.json',
    global: '.gemini/settings.json',
    lists: lists(
      ['SessionStart', 'AfterTool', 'AfterAgent', 'SessionEnd'],
      () => ['--client', 'gemini-cli'],
      (event, { shell }) =>
        grouped(event, { name: 'colibri', type: 'command', command: shell, timeout: TIMEOUT_S * 1000 }),
    ),
    offSwitches: [
      switchOff(['hooksConfig', 'enabled'], false),
      switchOffByName(['hooksConfig', 'disabled'], 'colibri'),
    ],
    settings: ['.gemini/settings.json'],
    nextSteps: { gemini: 'restart gemini and trust the folder; /hooks then lists the command' },
  },
  {
    clients: ['vscode', 'copilot'],
    project: '.github/hooks/colibri.json',
    global: '.copilot/hooks/colibri.json',
    // Copilot CLI does not name the event. VS Code reads the same form, and runs Claude Code's hooks as well.
    lists: lists(
      ['sessionStart', 'postToolUse', 'postToolUseFailure', 'agentStop', 'subagentStop', 'sessionEnd'],
      (event) => ['--event', event],
      (_event, { shell, powershell }) => ({ type: 'command', bash: shell, powershell, timeoutSec: TIMEOUT_S }),
      { version: 1 },
    ),
    nextSteps: {
      vscode:
        'reload the window; VS Code also runs the hooks of Claude Code, and each event is recorded once; it reports no exit codes',
      copilot:
        'restart copilot and trust the folder; it ignores .claude/settings.local.json if a hook there has the type mcp_tool',
    },
  },
  {
    clients: ['windsurf'],
    project: '.windsurf/hooks.json',
    global: '.codeium/windsurf/hooks.json',
    lists: lists(
      ['post_run_command', 'post_write_code', 'post_read_code', 'post_mcp_tool_use', 'post_cascade_response'],
      () => ['--client', 'windsurf'],
      (_event, { shell, powershell }) => ({ command: shell, powershell, show_output: false }),
    ),
    nextSteps: { windsurf: 'restart Windsurf; it reports no exit codes' },
  },
  {
    clients: ['opencode'],
    project: '.opencode/plugins/colibri.js',
    global: '.config/opencode/plugins/colibri.js',
    lists: undefined,
    nextSteps: { opencode: 'restart opencode' },
  },
];

/** The files that these clients read. */
export function findTargets(clients: readonly Pick<Client, 'id'>[]): HookTarget[] {
  return HOOK_TARGETS.filter((target) => target.clients.some((id) => clients.some((client) => client.id === id)));
}

export function targetPath({ project, global }: HookTarget, isGlobal: boolean): string {
  return isGlobal ? global : project;
}
