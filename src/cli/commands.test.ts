import { describe, expect, it } from 'vitest';
import { COMMANDS } from './commands.ts';
import { usageExitCode } from './support/command.ts';

describe.each(COMMANDS.map((command) => [command.name, command] as const))('the declaration of %s', (name, command) => {
  it('has a summary that starts with a verb in lower case and has no period', () => {
    expect(command.summary).toMatch(/^[a-z]+ .*[^.]$/);
  });

  it('has examples of this command only', () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [example] of command.examples) expect(example).toMatch(new RegExp(`(?:^| )colibri ${name}(?: |$)`));
  });

  it('explains the exit codes of success and of wrong usage', () => {
    expect(Object.keys(command.exitCodes)).toEqual(expect.arrayContaining(['0', String(usageExitCode(command))]));
  });
});
