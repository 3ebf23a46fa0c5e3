import { Command, CommanderError } from 'commander';
import { COMMANDS } from '../../src/cli/commands.ts';
import { registerCommand } from '../../src/cli/support/command.ts';
import { type Config, readCommandConfig, readConfig, readHookConfig } from '../../src/config.ts';
import { ColibriError } from '../../src/errors.ts';
import { type FuzzTarget, promise } from './target.ts';

/** One variable on each line, as `env` prints them. */
const environment: FuzzTarget = {
  name: 'environment',
  samples: [
    'COLIBRI_MODE=READONLY\nCOLIBRI_DB_PATH=/me/colibri.db\nCOLIBRI_AGENT_ID=agent 7\nCOLIBRI_PROJECT=web.2\nCOLIBRI_CLAIM_TTL=90s',
    'COLIBRI_DATABASE_URL=postgres://me:secret@db.example:5432/team?sslmode=require\nCOLIBRI_WORKFLOW=pipeline\nCOLIBRI_RECORD=full',
    'COLIBRI_DURABILITY=relaxed\nCOLIBRI_LOG_LEVEL=error\nCOLIBRI_STARTUP_TIMEOUT_MS=5000\nCOLIBRI_KEY_PATH=none\nCOLIBRI_CLAIM_TTL=off',
    'AI_AGENT=claude-code_2-0-14_x\nCOPILOT_CLI=1\nCOPILOT_CLI_BINARY_VERSION=1.0.2-beta\nCLAUDE_PROJECT_DIR=/me',
  ],
  check: (input) => {
    const variables = input.split('\n').map((line) => [/^[^=]*/.exec(line)?.[0] ?? '', line.replace(/^[^=]*=?/, '')]);
    const env: Readonly<Record<string, string>> = Object.assign(Object.create(null), Object.fromEntries(variables));
    promise(typeof readHookConfig(env).level === 'string', 'a hook finds a level in any environment');
    const config = unlessRefused(() => readConfig(env));
    const forPeople = unlessRefused(() => readCommandConfig(env));
    promise(config === undefined || forPeople !== undefined, 'what a server accepts, the commands accept');
    if (config === undefined) return false;
    promise(Object.isFrozen(config), 'a configuration does not change');
    promise(Number.isSafeInteger(config.startupTimeoutMs) && config.startupTimeoutMs > 0, 'a timeout is a duration');
    return true;
  },
};

function unlessRefused(read: () => Config): Config | undefined {
  try {
    return read();
  } catch (error) {
    const code = error instanceof ColibriError ? error.code : undefined;
    if (code === 'ERR_CONFIG_INVALID' || code === 'ERR_INVALID_MODE') return undefined;
    throw error;
  }
}

/** One argument on each line. */
const commandLine: FuzzTarget = {
  name: 'arguments',
  samples: [
    'board',
    'add\nA title\n--project\nweb\n--priority\nhigh\n--label\na\n--label\nb',
    'list\n--status\ntodo\n--limit\n20\n--csv',
    'show\n42\n--json\n--width\n80',
    'log\n--follow\n--agent\nclaude',
    'note\nT-0042\nwhy\n--type\nrisk',
    'export\n--task\nT-0042\n--out\nfile\n--redact',
    'verify\nfile\n--key\na+1+b',
    'call\ntask_list\n{"limit":5}',
    'wait\n--for\nT-0001\n--timeout\n90s',
  ],
  check: async (input) => {
    const reached: string[] = [];
    const program = new Command('colibri').exitOverride().configureOutput({ writeOut: ignore, writeErr: ignore });
    for (const command of COMMANDS)
      registerCommand(program, {
        ...command,
        run: async (options) => {
          promise(Object.getPrototypeOf(options) === Object.prototype, 'options are a plain object');
          reached.push(command.name);
          return undefined;
        },
      });
    try {
      await program.parseAsync(input.split('\n'), { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
    }
    promise(reached.length <= 1, 'a command line runs one command at most');
    promise(!('polluted' in {}), 'no prototype is changed');
    return reached.length === 1;
  },
};

const ignore = () => undefined;

export const INVOCATION_TARGETS: readonly FuzzTarget[] = [environment, commandLine];
