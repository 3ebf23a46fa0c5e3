import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION } from '../support/options.ts';

export const doctor: CliCommand<{ readonly json?: boolean }> = {
  name: 'doctor',
  summary: 'check Node, ledger, configuration, clients and skills, and suggest fixes',
  options: [JSON_OPTION],
  details: ['Writes nothing. Does not verify the entries of the ledger; run colibri verify for that.'],
  examples: [
    ['colibri doctor', 'what is wrong, and how to fix it'],
    [`colibri doctor --json | jq '.checks[] | select(.status != "ok")'`],
  ],
  exitCodes: { 0: 'no check failed (there may be warnings)', 1: 'a check failed', 64: 'invalid usage' },
  run: async ({ json = false }) => (await import('../doctor/run.ts')).runDoctor(json),
};
