import { Option } from 'commander';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION } from '../support/options.ts';

interface DoctorOptions {
  readonly run?: boolean;
  readonly json?: boolean;
}

export const doctor: CliCommand<DoctorOptions> = {
  name: 'doctor',
  summary: 'check Node, ledger, configuration, clients and skills, and suggest fixes',
  options: [new Option('--run', "start every command in the project's client configurations"), JSON_OPTION],
  details: [
    'Starts the server as each client would, without a ledger, and does the handshake. A command in a file of the project is started only if init would write the same, because the file may have come with a clone; --run starts it anyway.',
    'Sends a test event through each hook of the recorder, by the same rule, and looks for it in the spool. The event is removed again and never becomes an entry.',
    'Writes nothing else. Does not verify the entries of the ledger; run colibri verify for that.',
  ],
  examples: [
    ['colibri doctor', 'what is wrong, and how to fix it'],
    [`colibri doctor --json | jq '.checks[] | select(.status != "ok")'`],
  ],
  exitCodes: { 0: 'no check failed (there may be warnings)', 1: 'a check failed', 64: 'invalid usage' },
  run: async ({ json = false, run = false }) => (await import('../doctor/run.ts')).runDoctor({ json, runAll: run }),
};
