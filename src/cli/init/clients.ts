import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerEntry } from './formats/config-format.ts';

/** The program and arguments with which a client starts the server. */
export type LaunchCommand = readonly [string, ...string[]];

export interface Launch {
  readonly command: LaunchCommand;
  /** COLIBRI_AGENT_ID of the server; without it, the server uses the name of the client. */
  readonly agentId?: string | undefined;
}

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
  readonly entry: (launch: Launch) => ServerEntry;
  /** Files and folders by which it is detected, in a project and in a home folder. */
  readonly marks: readonly string[];
  /** What its user must do before it connects to a server of a project. */
  readonly nextStep: string;
  /** The file with instructions for agents that it reads; AGENTS.md if undefined. */
  readonly instructions?: string;
}

export const SERVER_NAME = 'colibri';

const at =
  (...keys: string[]) =>
  () =>
    keys;
const variables = ({ agentId }: Launch) => (agentId === undefined ? undefined : { COLIBRI_AGENT_ID: agentId });
const plain = (launch: Launch): ServerEntry => {
  const [command, ...args] = launch.command;
  const env = variables(launch);
  return { command, args, ...(env && { env }) };
};
const withType = (launch: Launch): ServerEntry => ({ type: 'stdio', ...plain(launch) });

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
    nextStep: 'start claude in this folder, trust the folder and approve the server colibri; /mcp then lists it',
    instructions: 'CLAUDE.md',
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
    nextStep: 'open Settings > MCP in Cursor and switch colibri on',
  },
  {
    id: 'vscode',
    name: 'VS Code',
    project: ['.vscode/mcp.json'],
    global: [],
    format: 'jsonc',
    serversAt: at('servers'),
    entry: withType,
    marks: ['.vscode'],
    nextStep: 'open .vscode/mcp.json in VS Code, press Start above colibri and trust the server',
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
    nextStep: 'start gemini in this folder and trust the folder; /mcp then lists colibri',
    instructions: 'GEMINI.md',
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
    nextStep: 'start codex in this folder and trust the project; it does not read the file before',
  },
  {
    id: 'opencode',
    name: 'opencode',
    project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    global: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    format: 'jsonc',
    // Version 2 moved the servers one level down and still reads the old location; the file shows which one it uses.
    serversAt: (find) => (isServerMap(find(['mcp', 'servers'])) ? ['mcp', 'servers'] : ['mcp']),
    entry: (launch) => {
      const environment = variables(launch);
      return { type: 'local', command: [...launch.command], ...(environment && { environment }) };
    },
    marks: ['opencode.json', 'opencode.jsonc', '.opencode'],
    nextStep: 'restart opencode',
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
    nextStep: 'open the project in Zed and trust the worktree; the settings of the agent panel then list colibri',
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
    nextStep: 'reload the window; the MCP panel of Roo Code then lists colibri',
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
    nextStep: 'run amp mcp approve colibri in this folder',
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
    nextStep: 'restart Kiro and confirm the server colibri in its MCP panel',
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    project: [],
    global: ['.codeium/windsurf/mcp_config.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.codeium/windsurf', '.windsurf'],
    nextStep: 'press Refresh in the MCP panel of Cascade',
  },
  {
    id: 'copilot',
    name: 'Copilot CLI',
    // Version 1.0.102 reads one of the two, the first.
    project: ['.mcp.json', '.github/mcp.json'],
    global: ['.copilot/mcp-config.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.github/mcp.json', '.github/copilot-instructions.md', '.copilot'],
    nextStep: 'start copilot in this folder and trust the folder; /mcp show then lists colibri',
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    project: ['.qwen/settings.json'],
    global: ['.qwen/settings.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.qwen', 'QWEN.md'],
    nextStep: 'start qwen in this folder, trust the folder and approve colibri, or run qwen mcp approve colibri',
    instructions: 'QWEN.md',
  },
  {
    id: 'cline',
    name: 'Cline',
    project: [],
    global: ['.cline/data/settings/cline_mcp_settings.json'],
    format: 'jsonc',
    serversAt: at('mcpServers'),
    entry: plain,
    marks: ['.clinerules', '.cline'],
    nextStep: 'restart Cline',
  },
  {
    id: 'crush',
    name: 'Crush',
    project: ['crush.json', '.crush.json'],
    global: ['.config/crush/crush.json'],
    format: 'jsonc',
    serversAt: at('mcp'),
    entry: withType,
    marks: ['crush.json', '.crush.json', 'crushrc', '.crushrc', '.crush', '.config/crush'],
    nextStep: 'restart crush',
  },
];

/** A server that is named "servers" has a command or a URL; the map of all servers has neither. */
function isServerMap(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !('command' in value) && !('url' in value) && !('type' in value)
  );
}

/** The client that a person means: by its id, by its name in any spelling, or by the first word of its id. */
export function findClient(text: string): Client | undefined {
  const letters = lettersOf(text);
  return CLIENTS.find(({ id, name }) => [id, name, id.split('-')[0] ?? ''].map(lettersOf).includes(letters));
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** The clients that have files in this folder. */
export function detectClients(folder: string): Client[] {
  return CLIENTS.filter(({ marks }) => marks.some((mark) => isThere(join(folder, mark))));
}

/** A broken link is a file of the client too: reading it reports what is wrong. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The file to change: the first that exists, else the preferred one; undefined if the client has none there. */
export function configPath(client: Client, root: string, isGlobal: boolean): string | undefined {
  const candidates = isGlobal ? client.global : client.project;
  return candidates.find((path) => existsSync(join(root, path))) ?? candidates[0];
}
