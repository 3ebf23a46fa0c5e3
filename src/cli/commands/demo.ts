import { Option } from 'commander';
import { toError } from '../../errors.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION } from '../support/options.ts';

interface DemoOptions {
  readonly json?: boolean;
  readonly keep?: boolean;
}

export const demo: CliCommand<DemoOptions> = {
  name: 'demo',
  summary: 'watch two agents race for a task, a refusal, a sealed session and a caught forgery',
  options: [new Option('--keep', 'keep the folder and print its path'), JSON_OPTION],
  details: [
    'Starts two agents, each with its own server, in a temporary folder that is removed afterwards. Your files are not touched.',
  ],
  examples: [
    ['colibri demo'],
    ['colibri demo --keep', 'keep the folder to look around in it'],
    [`colibri demo --json | jq '.steps[].text'`],
  ],
  exitCodes: { 0: 'every step went as expected', 1: 'a step failed', 64: 'invalid usage' },
  run: async ({ json = false, keep = false }) => {
    const [{ runDemo }, { createReporter }] = await Promise.all([
      import('../demo/run.ts'),
      import('../demo/reporter.ts'),
    ]);
    const reporter = createReporter(json);
    try {
      const folder = await runDemo(keep, reporter.report);
      reporter.end({ ok: true, ...(keep ? { folder } : {}) });
      return 0;
    } catch (thrown) {
      reporter.end({ ok: false, message: toError(thrown).message });
      return 1;
    }
  },
};
