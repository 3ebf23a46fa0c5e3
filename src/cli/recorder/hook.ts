import { Argument, Option } from 'commander';
import { CLIENTS } from '../../recorder/event.ts';
import { run } from '../../recorder/hook.ts';
import type { CliCommand } from '../support/command.ts';
import { writeTrailers } from './commit-message.ts';

const MESSAGE_HOOKS = ['prepare-commit-msg', 'commit-msg'];
const GIT_HOOKS = ['post-commit', 'post-merge', 'post-applypatch', 'post-rewrite', ...MESSAGE_HOOKS];

interface HookOptions {
  readonly client?: string;
  readonly event?: string;
  readonly git?: string;
}

/** For its help text. The first file starts the same program from a bundle of its own. */
export const hook: CliCommand<HookOptions, string[]> = {
  name: 'hook',
  summary: 'record one event of a client or of git; they run it, not people',
  argument: new Argument('[argument...]', 'what git passes to its hook'),
  options: [
    new Option('--client <name>', 'the reporting client; by default detected from the fields of the event').choices(
      CLIENTS,
    ),
    new Option('--event <name>', 'the name of the event, for clients whose events do not contain it'),
    new Option('--git <hook>', 'act as this hook of git').choices(GIT_HOOKS),
  ],
  details: [
    'Reads one hook event as JSON on standard input and stores it in .colibri/spool beside the ledger, from where the next server or command adds it to the log. Known shapes of secrets are blanked first. Records nothing outside a project with a .colibri folder.',
    'Never fails or delays an agent: it prints nothing on standard output, gives up after 2 seconds, and always exits with 0. COLIBRI_RECORD=digests stores no readable content, COLIBRI_RECORD=full stores more.',
    'With --git, post-commit, post-merge and post-applypatch record the new commit, and post-rewrite the commits that an amend or a rebase replaced. prepare-commit-msg adds the trailers Colibri-Task, Colibri-Checkpoint and Colibri-Ledger to a message that has none, except to those of merges and squashes; commit-msg does it for a message that was empty before. A commit never fails, and waits no longer than 2 seconds.',
  ],
  examples: [
    ['colibri hook < event.json'],
    ['colibri hook --client copilot-cli --event postToolUse', 'as a client runs it'],
    ['colibri hook --git post-commit', 'as git runs it in a hook'],
    ['colibri hook --git prepare-commit-msg "$@"'],
  ],
  exitCodes: { 0: 'always', 64: 'invalid usage together with --help' },
  run: async ({ client, event, git }, [file, source]) => {
    if (git !== undefined && MESSAGE_HOOKS.includes(git)) {
      await writeTrailers(file, source);
      return 0;
    }
    const values = { '--client': client, '--event': event, '--git': git };
    await run([
      'hook',
      ...Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ]);
    return 0;
  },
};
