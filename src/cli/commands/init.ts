import { Argument, type Command, Option } from 'commander';
import { CLIENTS } from '../init/clients.ts';
import type { InitOptions } from '../init/run.ts';

const HELP = `
Without a client's name: those that left traces in the project, or else in your home folder.

Examples:
  colibri init                       set up the clients that are there
  colibri init claude-code cursor    set up these two
  colibri init --dry-run             show what would change
  colibri init --published           start npx -y colibri-mcp@VERSION, for a configuration that others share
  colibri init --undo                take back what init wrote

Exit codes: 0 done or nothing to do, 1 refused and nothing written, 64 wrong arguments.`;

export function addInit(program: Command): void {
  program
    .command('init')
    .description('connect coding agents to Colibri: their configuration and the skills')
    .addArgument(new Argument('[client...]', 'the clients to set up').choices(CLIENTS.map(({ id }) => id)))
    .option('--dry-run', 'show the difference, write nothing')
    .option('--undo', 'take back what init wrote, and only that')
    .option('--local', 'start this very program with node: the default where it did not come from the registry')
    .addOption(new Option('--published', 'start this version from the registry with npx').conflicts('local'))
    .option('--global', 'write to your home folder instead of the project')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (names: string[], options: InitOptions) => {
      const { init } = await import('../init/run.ts');
      process.exitCode = init(names, options);
    });
}
