import { Option } from 'commander';
import { CLIENTS } from '../../recorder/event.ts';
import { run } from '../../recorder/hook.ts';
import type { CliCommand } from '../support/command.ts';

interface HookOptions {
  readonly client?: string;
  readonly event?: string;
}

/** For its help text. The first file starts the same program from a bundle of its own. */
export const hook: CliCommand<HookOptions> = {
  name: 'hook',
  summary: 'record one event of a client; clients run it, not people',
  options: [
    new Option('--client <name>', 'the client that reports; without it, the shape of the event tells').choices(CLIENTS),
    new Option('--event <name>', 'the name of the event, for clients whose events do not contain it'),
  ],
  details: [
    'Reads one hook event as JSON on standard input and stores it in .colibri/spool beside the ledger, from where the next server or command adds it to the log. Known shapes of secrets are blanked first. Records nothing outside of a project with a .colibri folder.',
    'Never fails or delays an agent: it prints nothing on standard output, gives up after 2 seconds, and always exits with 0. COLIBRI_RECORD=digests stores no readable content, COLIBRI_RECORD=full stores more.',
  ],
  examples: [
    ['colibri hook < event.json'],
    ['colibri hook --client copilot-cli --event postToolUse', 'as a client runs it'],
  ],
  exitCodes: { 0: 'always', 64: 'invalid usage together with --help' },
  run: async ({ client, event }) => {
    const values = { '--client': client, '--event': event };
    await run([
      'hook',
      ...Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ]);
    return 0;
  },
};
