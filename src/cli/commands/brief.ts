import { InvalidArgumentError, Option } from 'commander';
import type { Config } from '../../config.ts';
import { nextSteps, renderBrief } from '../../domains/brief/brief.ts';
import { readBrief } from '../../domains/brief/repository.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { findTerminal } from '../views/terminal.ts';
import { printableProse, wrap } from '../views/text-width.ts';

interface BriefOptions {
  readonly agent?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export const brief: CliCommand<BriefOptions> = {
  name: 'brief',
  summary: 'print what an agent needs to know before it continues',
  options: [
    new Option('--agent <name>', 'the agent (default: COLIBRI_AGENT_ID, else every agent)').argParser(parseName),
    PROJECT_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Prints at most 500 tokens: the tasks of the agent, what others changed since its last call, the last decisions verbatim, and what to call next. MCP clients read the same as the resource colibri://brief.',
  ],
  examples: [['colibri brief --agent claude-code'], ['colibri brief --agent claude-code --json | jq -r .next[0]']],
  exitCodes: READ_EXIT_CODES,
  run: (options) => runReadCommand('brief', options.json ?? false, (config) => showBrief(config, options)),
};

async function showBrief(config: Config, { agent = config.agentId, project, json }: BriefOptions): Promise<number> {
  const query = { agent, project: project ?? config.project };
  const context = { at: new Date().toISOString(), ttlMs: config.claimTtlMs };
  const found = await withDatabase(config, (database) =>
    database.read((reader) => readBrief(reader, query, { ...context, liveness: database })),
  );
  if (json) printJson({ ...found, next: nextSteps(found) });
  else print(fitLines(renderBrief(found), findTerminal().width));
  return 0;
}

function parseName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Use the name of an agent (colibri agents lists them).');
  return text;
}

/** Without a terminal the text is what an agent reads. */
function fitLines(text: string, width: number | undefined): string[] {
  const lines = text.split('\n');
  if (width === undefined) return lines;
  return lines.flatMap((line) => {
    const [, mark = '', rest = ''] = /^([->] )?(.*)$/s.exec(line) ?? [];
    const [first = '', ...more] = wrap(printableProse(rest), width - mark.length);
    return [mark + first, ...more.map((part) => ' '.repeat(mark.length) + part)];
  });
}
