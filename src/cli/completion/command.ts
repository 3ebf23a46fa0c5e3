import { Argument, Option } from 'commander';
import { listTasks } from '../../domains/tasks/list-query.ts';
import { isOpen, STATUSES } from '../../domains/tasks/workflows.ts';
import { printError } from '../../print-error.ts';
import type { CliCommand } from '../support/command.ts';
import { print, printRecords } from '../support/print.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { completedCommands } from './model.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const SHELLS = Object.keys(SCRIPTS);
const USAGE = 64;
const MAX_TASKS = 200;

interface CompletionOptions {
  readonly taskIds?: boolean;
}

/** Takes the list of commands as a function, because the command is one of them. */
export function createCompletion(
  listCommands: () => readonly CliCommand[],
): CliCommand<CompletionOptions, keyof typeof SCRIPTS | undefined> {
  return {
    name: 'completion',
    summary: 'print the completion script of a shell',
    argument: new Argument('[shell]', 'the shell').choices(SHELLS),
    options: [new Option('--task-ids', 'print the open tasks that changed last, for the scripts')],
    details: [
      'bash: add source <(colibri completion bash) to ~/.bashrc. zsh: add source <(colibri completion zsh) to ~/.zshrc, after compinit. fish: run colibri completion fish > ~/.config/fish/completions/colibri.fish.',
      'The scripts read open tasks from the ledger of the current folder, and never change it.',
    ],
    examples: [
      ['colibri completion bash > ~/.local/share/bash-completion/completions/colibri'],
      ['colibri completion fish | source'],
    ],
    exitCodes: { 0: 'printed', 64: 'invalid usage' },
    run: async ({ taskIds = false }, shell) => {
      if (taskIds) return printTaskIds();
      if (shell !== undefined) {
        print(SCRIPTS[shell](completedCommands(listCommands())));
        return 0;
      }
      printError([
        `colibri completion: name a shell: ${SHELLS.join(', ')}`,
        'Run colibri completion --help for usage.',
      ]);
      return USAGE;
    },
  };
}

/** Prints nothing where there is no ledger that can be read: a shell shows errors in the line that is typed. */
async function printTaskIds(): Promise<number> {
  try {
    const filters = { status: STATUSES.filter(isOpen), limit: MAX_TASKS, offset: 0 };
    const { tasks } = await withLedger(readProjectConfig(), (reader) =>
      listTasks(reader, { ...filters, sort_by: 'updated', sort_order: 'desc' }),
    );
    printRecords(
      tasks.map(({ task_id, title }) => [task_id, title]),
      { separator: '\t', end: '\n' },
    );
  } catch {
    return 0;
  }
  return 0;
}
