import { Argument, InvalidArgumentError, Option } from 'commander';
import { CLIENTS, findClient } from '../init/clients.ts';
import type { InitOptions } from '../init/run.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION } from '../support/options.ts';

const IDS = CLIENTS.map(({ id }) => id);

export const init: CliCommand<InitOptions, string[]> = {
  name: 'init',
  summary: 'connect coding agents to Colibri: write their configuration and copy the skills',
  argument: new Argument('[client...]', 'the clients to set up').choices(IDS).argParser(parseClient),
  options: [
    new Option('--dry-run', 'show the changes, write nothing'),
    new Option('--undo', 'revert what init wrote, and nothing else'),
    new Option('--local', 'start this installation with node (default unless it came from the registry)'),
    new Option('--published', 'start this version from the registry with npx').conflicts('local'),
    new Option('--replace', 'replace colibri entries that init did not write'),
    new Option('--instructions', 'add four lines for agents to AGENTS.md, CLAUDE.md or the like'),
    new Option('--no-instructions', 'do not ask about these lines'),
    new Option(
      '--agent-ids',
      'give each client its own COLIBRI_AGENT_ID, numbered if several agents of it run at once',
    ),
    new Option(
      '--record',
      'also record what agents do: register colibri hook for the events of each client and of git',
    ),
    new Option('--global', 'write to your home folder instead of the project'),
    JSON_OPTION,
  ],
  details: [
    'Without a client, sets up those that have files in the project or, if there are none, in your home folder.',
    'Prints for each client what is left to do, such as trusting the folder. Without --agent-ids, an agent has the name of its client, with a number if several are alive.',
    '--record works with Claude Code, Codex, Cursor, Gemini CLI, VS Code, Copilot CLI, Windsurf and opencode, and with the hooks of git. Hooks that are there already stay. A later init keeps the hooks up to date; --undo removes them.',
  ],
  examples: [
    ['colibri init', 'set up the clients that are in use here'],
    ['colibri init claude-code cursor', 'set up these two'],
    ['colibri init --dry-run', 'show what would change'],
    ['colibri init --published', 'start npx -y colibri-mcp@VERSION, for a configuration that you share'],
    ['colibri init --replace cursor', 'repair a broken entry'],
    ['colibri init --record', 'also record every tool call that a client reports, and every commit'],
    ['colibri init --undo', 'revert what init wrote'],
  ],
  exitCodes: { 0: 'done, or nothing to do', 1: 'refused, nothing written', 64: 'invalid usage' },
  run: async (options, clients) => (await import('../init/run.ts')).runInit(clients, options),
};

function parseClient(text: string, previous: readonly string[] = []): string[] {
  const client = findClient(text);
  if (client === undefined) throw new InvalidArgumentError(`Allowed choices are ${IDS.join(', ')}.`);
  return [...new Set([...previous, client.id])];
}
