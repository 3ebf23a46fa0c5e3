import { type Config, describeLocation } from '../../config.ts';
import { linkedWorkTree } from '../../db/locate.ts';
import { printError } from '../../print-error.ts';
import { main } from '../../server.ts';
import type { CliCommand } from '../support/command.ts';

export const serve: CliCommand = {
  name: 'serve',
  summary: 'serve MCP on standard input and output (default without a terminal)',
  options: [],
  examples: [['colibri serve'], ['COLIBRI_MODE=READONLY colibri serve']],
  exitCodes: {
    0: 'done',
    1: 'error',
    64: 'invalid usage',
    75: 'the server did not start in time',
    78: 'invalid configuration',
  },
  run: async () => {
    // The pipe of a client is not a terminal: this was started by a person.
    await main(process.stdin.isTTY ? printTerminalHint : undefined);
    return undefined;
  },
};

function printTerminalHint(config: Config): void {
  const linked = config.projectDbPath === undefined ? undefined : linkedWorkTree();
  const program = process.argv[1] ?? 'colibri';
  printError([
    'Colibri, a flight recorder for AI agents: an MCP server, waiting for a client on standard input.',
    '',
    `  mode     ${config.mode}`,
    `  ledger   ${describeLocation(config)}`,
    ...(linked === undefined ? [] : [`           shared by the git worktrees of ${linked.main}`]),
    '',
    'Coding agents start it themselves. To connect one, run colibri init, or configure it by hand:',
    '',
    `  Claude Code   claude mcp add colibri -- node ${program}`,
    `  others        {"mcpServers": {"colibri": {"command": "node", "args": ["${program}"]}}}`,
    '',
    'Press Ctrl-C to stop the server.',
    '',
  ]);
}
