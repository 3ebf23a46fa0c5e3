import { describeLocation, readConfig } from '../../config.ts';
import { linkedWorkTree, serverConfig } from '../../db/locate.ts';
import { printError } from '../../print-error.ts';

/** For a person who started the server by hand; the pipe of a client is no terminal. */
export function printTerminalHint(): void {
  const config = serverConfig(readConfig());
  const isShared = config.projectDbPath !== undefined && linkedWorkTree() !== undefined;
  const program = process.argv[1] ?? 'colibri';
  printError([
    'Colibri, a flight recorder for AI agents: an MCP server, waiting for a client on standard input.',
    '',
    `  mode     ${config.mode}`,
    `  ledger   ${describeLocation(config)}`,
    ...(isShared ? [`           shared by the git worktrees of ${linkedWorkTree()?.main}`] : []),
    '',
    'Coding agents start it themselves. To connect one:',
    '',
    `  Claude Code   claude mcp add colibri -- node ${program}`,
    `  others        {"mcpServers": {"colibri": {"command": "node", "args": ["${program}"]}}}`,
    '',
    'Ctrl-C ends it.',
    '',
  ]);
}
