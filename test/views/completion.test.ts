import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { colibri, createProject, expectWhole, ledgerOf, withAgent } from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Runs a shell, if this machine has it. */
function runShell(shell: string, args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = '' } = process.env;
  return spawnSync(shell, args, { encoding: 'utf8', env: { PATH, ...env } });
}

const hasShell = (shell: string) => runShell(shell, ['-c', 'true']).status === 0;

/** What a shell offers for the last word of each line. Zsh completes only on a terminal. */
const ASK: Readonly<Record<string, (folder: string, lines: readonly string[]) => string>> = {
  bash: (folder, lines) => {
    const questions = lines.map((line) => {
      const words = line.split(' ');
      return `COMP_WORDS=(colibri ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; COMPREPLY=()
        _colibri colibri '${words.at(-1)}' '${words.at(-2) ?? 'colibri'}'; echo "\${COMPREPLY[@]}"`;
    });
    const script = ['source <(colibri completion bash)', ...questions].join('\n');
    return runShell('bash', ['-c', `cd '${folder}'; PATH='${folder}':$PATH; ${script}`]).stdout;
  },
  fish: (folder, lines) => {
    const questions = lines.map((line) => `echo (complete -C 'colibri ${line}' | string split -f1 \\t)`);
    const script = ['colibri completion fish | source', ...questions].join('\n');
    const args = ['--no-config', '-c', `cd '${folder}'; set PATH '${folder}' $PATH; ${script}`];
    return runShell('fish', args, { HOME: folder }).stdout;
  },
};

/** A file whose name begins like a value is offered only for an option that takes a file. */
const OFFERED = `board
--watch
in_progress
bash
verify
T-0002

task_get
server_ping
review
backlog
ready review
cursor
review.md
`;

describe('colibri completion', () => {
  for (const shell of SHELLS)
    promiseTest('cli/completion', `the script of ${shell} names every command and option, and is valid`, () => {
      const { stdout, stderr, status } = colibri('.', ['completion', shell]);
      expect([stderr, status]).toEqual(['', 0]);
      for (const { name, options } of COMMANDS) {
        expect(stdout).toContain(name);
        for (const { long } of options) expect(stdout).toContain(shell === 'fish' ? `-l ${long?.slice(2)}` : long);
      }
      const script = join(createProject(), `colibri.${shell}`);
      writeFileSync(script, stdout);
      if (hasShell(shell)) expect(runShell(shell, ['-n', script])).toMatchObject({ status: 0, stderr: '' });
    });

  promiseTest('cli/completion', 'completes commands, options, values and task ids', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      for (const title of ['One', '$(touch hacked) `touch hacked` \' " ; x']) await agent('task_create', { title });
      await agent('task_update', { task_id: 'T-0001', status: 'cancelled' });
    });
    const before = readFileSync(ledgerOf(folder));
    const program = join(folder, 'colibri');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/colibri.js')}' "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(folder, 'review.md'), '');
    const lines = [
      'bo',
      'board --wa',
      'board --status in_',
      'completion b',
      'help ver',
      'show ',
      'add board --wa',
      'call task_g',
      'log --tool server_p',
      'board --status re',
      'add x --status b',
      'wait --for re',
      'init zed cur',
      'export --out rev',
    ];
    for (const [shell, ask] of Object.entries(ASK)) if (hasShell(shell)) expect(ask(folder, lines)).toBe(OFFERED);
    expect(colibri(folder, ['completion', '--task-ids']).stdout).toBe(
      'T-0002\t$(touch hacked) `touch hacked` \' " ; x\n',
    );
    expect(readFileSync(ledgerOf(folder))).toEqual(before);
    expectWhole(folder);
  });

  promiseTest('cli/completion', 'prints nothing where there is no ledger, and refuses an unknown shell', () => {
    const folder = createProject();
    const nowhere = { COLIBRI_DB_PATH: join(folder, 'none.db') };
    expect(colibri(folder, ['completion', '--task-ids'], nowhere)).toEqual({ stdout: '', stderr: '', status: 0 });
    for (const args of [[], ['tcsh']]) {
      const { stdout, stderr, status } = colibri(folder, ['completion', ...args]);
      expect([stdout, status]).toEqual(['', 64]);
      expect(stderr).toContain('bash, zsh, fish');
      expect(stderr).toContain('Run colibri completion --help for usage.');
    }
  });
});

describe('the manual page', () => {
  promiseTest('cli/manual', 'has every command and option, and no line that is a request by accident', () => {
    const page = readFileSync('man/colibri.1', 'utf8');
    for (const { name, options } of COMMANDS) {
      expect(page).toMatch(new RegExp(`^\\.SS colibri ${name}[ \\n]`, 'm'));
      for (const { flags } of options) expect(page).toContain(flags.replaceAll('-', '\\-'));
    }
    const requests = page.split('\n').filter((line) => /^[.']/.test(line));
    const known = /^\.(?:\\" |TH |SH |SS |TP$|PP$|nf$|fi$|B |I |RI )/;
    expect(requests.filter((line) => !known.test(line))).toEqual([]);
    // The marks of the timeline are in no other character set.
    const locale = { LC_ALL: 'C.UTF-8' };
    if (hasShell('man')) expect(runShell('man', ['-l', '--warnings', 'man/colibri.1'], locale).stderr).toBe('');
  });
});
