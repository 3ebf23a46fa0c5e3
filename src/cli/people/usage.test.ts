import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { registerCommand, usageExitCode } from '../support/command.ts';

const WRONG: readonly (readonly string[])[] = [
  ['add'],
  ['add', 'One', 'Two'],
  ['add', '--priority', 'urgent', 'x'],
  ['add', 'x', '--estimate', '-1'],
  ['add', 'x', '--estimate', '1e3'],
  ['add', 'x', '--project', 'No Slug'],
  ['add', 'x', '--parent', 'A-1'],
  ['add', 'x', '--workflow', 'kanban'],
  ['add', '-t-1'],
  ['add', 'x', '--force', 'why'],
  ['edit', '--', '--title', 'x'],
  ['edit', '1', '--progress', '1e2'],
  ['edit', '1', '--depends-on', 'x'],
  ['start'],
  ['start', '0'],
  ['start', 'T-\u0661'],
  ['start', '--', '-1'],
  ['start', '99999999999999'],
  ['start', '1', '--force'],
  ['start', '1', '--force', ' '],
  ['start', '1', '--force', '--reason'],
  ['start', '1', '--force', '--json'],
  ['redact', 'T-0001', '--reason', '--yes'],
  ['start', '1', '--force', 'two\nlines'],
  ['start', '1', '--force', 'x'.repeat(1001)],
  ['block', '1'],
  ['note', '1'],
  ['note', '1', 'x', '--type', 'poem'],
  ['note', '1', 'x', '--commit', 'HEAD'],
  ['approve', '1', '--commit', 'abc123'],
  ['seal', '1'],
  ['seal', '\u0398-1'],
  ['seal', 'A-0'],
  ['done', '1', '2'],
  ['search'],
  ['call'],
  ['project', 'No Slug'],
  ['project', '--review', 'all'],
  ['add', 'x', '--as', ''],
  ['add', 'x', '--as', ' ada'],
  ['add', 'x', '--as', 'a\u001b[2J'],
  ['add', 'x', '--as', 'a\u202eb'],
  ['add', 'x', '--as', 'a\ud800'],
  ['add', 'x', '--as', 'person:'],
  ['add', 'x', '--as', 'a'.repeat(122)],
];

function createProgram(): Command {
  const program = new Command('colibri').exitOverride().configureOutput({ writeErr: () => undefined });
  // A command line that is accepted by mistake must not write to a ledger.
  const run = () => Promise.resolve(undefined);
  for (const command of COMMANDS) registerCommand(program, { ...command, run });
  return program;
}

describe('the command line of a person', () => {
  for (const args of WRONG)
    it(`refuses ${JSON.stringify(args).slice(0, 60)}`, async () => {
      await expect(createProgram().parseAsync([...args], { from: 'user' })).rejects.toThrow(CommanderError);
      const command = COMMANDS.find(({ name }) => name === args[0]);
      expect(command && usageExitCode(command)).toBe(args[0] === 'search' ? 64 : 3);
    });

  it('says where the reason of an override belongs', async () => {
    const line = ['done', '1', '--force', '--reason', 'I tested it'];
    await expect(createProgram().parseAsync(line, { from: 'user' })).rejects.toThrow(
      "error: option '--force <why>' argument '--reason' is invalid. The reason comes right after the option, and does not begin with two hyphens.",
    );
  });

  it('accepts what looks like an option after --', async () => {
    await createProgram().parseAsync(['add', '--as', 'ada', '--', '--title'], { from: 'user' });
    await createProgram().parseAsync(['edit', '1', '--title', '-x', '--assignee', '--title'], { from: 'user' });
  });
});
