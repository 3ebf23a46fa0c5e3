import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerEntry } from './formats/config-format.ts';

/** The program and arguments with which a client starts the server. */
export type LaunchCommand = readonly [string, ...string[]];

export interface Client {
  readonly id: string;
  readonly name: string;
  /** Its configuration files in a project, the preferred one first; empty if it has none there. */
  readonly project: readonly string[];
  /** Its configuration files below the home folder, likewise. */
  readonly global: readonly string[];
  readonly format: 'jsonc' | 'toml';
  /** The keys of the server map; `find` reads the current content of the file. */
  readonly serversAt: (find: (keys: readonly string[]) => unknown) => readonly string[];
  readonly entry: (command: LaunchCommand) => ServerEntry;
  /** Files and folders by which it is detected, in a project and in a home folder. */
  readonly marks: readonly string[];
}

export const SERVER_NAME = 'colibri';

const at =
  (...keys: string[]) =>
  () =>
    keys;
const plain = ([command, ...args]: LaunchCommand): ServerEntry => ({ command, args });

export const CLIENTS: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    project: ['.mcp.json'],
    global: ['.claude.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.mcp.json', '.claude', 'CLAUDE.md'],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    project: ['.cursor/mcp.json'],
    global: ['.cursor/mcp.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.cursor'],
  },
  {
    id: 'vscode',
    name: 'VS Code',
    project: ['.vscode/mcp.json'],
    global: [],
    format: 'jsonc',
    serversAt: at('servers'),
    entry: (command) => ({ type: 'stdio', ...plain(command) }),
    marks: ['.vscode'],
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    project: ['.gemini/settings.json'],
    global: ['.gemini/settings.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.gemini', 'GEMINI.md'],
  },
  {
    id: 'codex',
    name: 'Codex',
    project: ['.codex/config.toml'],
    global: ['.codex/config.toml'],
    format: 'toml',
    serversAt: at('mcp_servers'),
    entry: plain,
    marks: ['.codex'],
  },
  {
    id: 'opencode',
    name: 'opencode',
    project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    global: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    format: 'jsonc',
    // Version 2 moved the servers one level down and still reads the old location; the file shows which one it uses.
    serversAt: (find) => (isServerMap(find(['mcp', 'servers'])) ? ['mcp', 'servers'] : ['mcp']),
    entry: (command) => ({ type: 'local', command: [...command] }),
    marks: ['opencode.json', 'opencode.jsonc', '.opencode'],
  },
  {
    id: 'zed',
    name: 'Zed',
    project: ['.zed/settings.json'],
    global: ['.config/zed/settings.json'],
    format: 'jsonc',
    serversAt: at('context_servers'),
    entry: plain,
    marks: ['.zed', '.config/zed'],
  },
  {
    id: 'roo',
    name: 'Roo Code',
    project: ['.roo/mcp.json'],
    global: [],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.roo'],
  },
  {
    id: 'amp',
    name: 'Amp',
    project: ['.amp/settings.json'],
    global: ['.config/amp/settings.json'],
    format: 'jsonc',
    serversAt: at('amp.mcpServers'),
    entry: plain,
    marks: ['.amp', '.config/amp'],
  },
  {
    id: 'kiro',
    name: 'Kiro',
    project: ['.kiro/settings/mcp.json'],
    global: ['.kiro/settings/mcp.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.kiro'],
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    project: [],
    global: ['.codeium/windsurf/mcp_config.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.codeium/windsurf'],
  },
];

/** A server that is named "servers" has a command or a URL; the map of all servers has neither. */
function isServerMap(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !('command' in value) && !('url' in value) && !('type' in value)
  );
}

/** The clients that have files in this folder. */
export function detectClients(folder: string): Client[] {
  return CLIENTS.filter(({ marks }) => marks.some((mark) => existsSync(join(folder, mark))));
}

/** The file to change: the first that exists, else the preferred one; undefined if the client has none there. */
export function configPath(client: Client, root: string, isGlobal: boolean): string | undefined {
  const candidates = isGlobal ? client.global : client.project;
  return candidates.find((path) => existsSync(join(root, path))) ?? candidates[0];
}
