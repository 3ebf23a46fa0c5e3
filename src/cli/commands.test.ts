import { describe, expect, it } from 'vitest';
import { COMMANDS } from './commands.ts';
import { renderExamples, usageExitCode } from './support/command.ts';

describe.each(COMMANDS.map((command) => [command.name, command] as const))('the declaration of %s', (name, command) => {
  it('has a summary that starts with a verb in lower case and has no period', () => {
    expect(command.summary).toMatch(/^[a-z]+ .*[^.]$/);
  });

  it('has examples of this command only', () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [example] of command.examples) expect(example).toMatch(new RegExp(`(?:^| )colibri ${name}(?: |$)`));
  });

  it('has notes on examples that fit 80 columns', () => {
    const own = new Set(command.examples.map(([example]) => `  ${example}`));
    for (const line of renderExamples(command.examples, 80))
      expect(own.has(line) || line.length <= 80, line).toBe(true);
  });

  it('explains the exit codes of success and of wrong usage', () => {
    expect(Object.keys(command.exitCodes)).toEqual(expect.arrayContaining(['0', String(usageExitCode(command))]));
  });
});
