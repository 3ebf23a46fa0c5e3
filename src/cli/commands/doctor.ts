import type { Command } from 'commander';

const HELP = `
Examples:
  colibri doctor                                    what is wrong, and how to mend it
  colibri doctor --json | jq '.checks[] | select(.status != "ok")'

Looks and writes nothing. Whether the record is whole is a question for colibri verify.
Exit codes: 0 nothing is broken (warnings allowed), 1 something is.`;

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look at Node, ledger, configuration, clients and skills: what is wrong, and how to mend it')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json = false }: { json?: boolean }) => {
      const { doctor } = await import('../doctor/run.ts');
      process.exitCode = await doctor(json);
    });
}
