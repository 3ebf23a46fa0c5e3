import type { Command } from 'commander';
import { toError } from '../../errors.ts';

const HELP = `
Two agents, each with a server of its own, in a folder that is removed afterwards. Nothing of yours is touched.

Examples:
  colibri demo
  colibri demo --keep                  leaves the folder, to look around in it
  colibri demo --json | jq '.steps[].says'

Exit codes: 0 all went as told, 1 something did not.`;

interface Options {
  readonly json?: boolean;
  readonly keep?: boolean;
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('a race, a refusal, a sealed session and a caught forgery, in seconds')
    .option('--keep', 'leave the folder and say where it is')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json = false, keep = false }: Options) => {
      process.exitCode = await demo(json, keep);
    });
}

async function demo(json: boolean, keep: boolean): Promise<number> {
  const [{ perform }, { createTeller }] = await Promise.all([import('../demo/run.ts'), import('../demo/reporter.ts')]);
  const teller = createTeller(json);
  try {
    const folder = await perform(keep, teller.tell);
    teller.end({ ok: true, ...(keep ? { folder } : {}) });
    return 0;
  } catch (thrown) {
    teller.end({ ok: false, message: toError(thrown).message });
    return 1;
  }
}
