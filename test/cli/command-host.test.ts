import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliProject, createTemplate, inherited } from '../support/cli-project.ts';
import { tamper } from '../support/ledger.ts';
import { type Ran, runCommand, runProcess, type ShellCommand } from '../support/program.ts';

let template: CliProject;
beforeAll(async () => {
  template = await createTemplate();
  // The age of a task from the future is always shown as zero.
  await tamper(template.ledger, "UPDATE tasks SET updated_at = '2100-01-01T00:00:00.000Z'");
});
afterAll(() => template.remove());

const TERMINAL = { columns: 100, rows: 24 };

/** Most tests run their commands in one process, which must not change what they see. */
describe('a command that the tests run without a process of its own', () => {
  const cases: Readonly<Record<string, Partial<ShellCommand> & Pick<ShellCommand, 'args'>>> = {
    'prints the version': { args: ['--version'] },
    'prints its help': { args: ['log', '--help'] },
    'shows a ledger': { args: ['board', '--all'] },
    'shows a ledger in colors': { args: ['show', '1'], env: { TERM: 'xterm-256color' }, terminal: TERMINAL },
    'prints JSON': { args: ['list', '--json'] },
    'verifies a changed ledger': { args: ['verify'] },
    'reads its standard input': { args: ['note', '1', '-', '--as', 'ada'], stdin: 'a decision\n' },
    'adds a task': { args: ['add', 'a task', '--as', 'ada'] },
    'writes a file': { args: ['backup', 'second.db'] },
    'starts a process': { args: ['doctor'] },
    'is refused for its usage': { args: ['board', '--nothing'] },
    'is refused for its configuration': { args: ['board'], env: { COLIBRI_MODE: 'NONE' } },
    'does not exist': { args: ['nothing'] },
  };
  for (const [name, command] of Object.entries(cases))
    it(`says the same when it ${name}`, async () => {
      const [here, there] = [await runIn(runCommand, command), await runIn(runProcess, command)];
      expect(here).toEqual(there);
      expect(here.stdout + here.stderr).not.toBe('');
    });

  it('leaves nothing to the next one', async () => {
    const shown = await template.run('board');
    await template.runWith({ env: { TERM: 'xterm-256color' }, terminal: TERMINAL }, 'board');
    await template.runWith({ env: { COLIBRI_MODE: 'NONE' }, cwd: '/' }, 'verify');
    expect(await template.run('board')).toEqual(shown);
  });
});

async function runIn(run: (command: ShellCommand) => Promise<Ran>, command: Partial<ShellCommand>) {
  const { folder, ledger } = new CliProject({ like: template });
  const env = { ...inherited(), COLIBRI_DB_PATH: ledger, ...command.env };
  const { status, stdout, stderr } = await run({ args: [], ...command, cwd: folder, env });
  // Other programs use the disk, too.
  const named = (text: string) => text.replaceAll(folder, '<project>').replace(/[\d.]+ GiB free/, '<space> free');
  return { status, stdout: named(stdout), stderr: named(stderr) };
}
