import { spawn } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliProject, createTemplate, finished, inherited, reportOf } from '../support/cli-project.ts';
import { tamper } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { PROGRAM, type Ran } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

interface Line {
  readonly command: string;
  readonly status: number;
}

const page = readFileSync('docs/operations.md', 'utf8');

/** The command lines of each section, with the exit codes in their comments. */
const sections = page
  .split(/^## /m)
  .map((text) => ({
    title: text.split('\n')[0] ?? '',
    lines: [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(linesOf),
  }))
  .filter(({ lines }) => lines.length > 0);

function linesOf([, block = '']: readonly string[]): Line[] {
  return block
    .trimEnd()
    .split('\n')
    .map((line) => ({ command: line, status: Number(/# exit (\d+)/.exec(line)?.[1] ?? 0) }));
}

/** Sets up what each section assumes before its first line. */
const scenes: Record<string, (place: CliProject) => Promise<void>> = {
  'When `verify` is red': async (place) => {
    cpSync(place.path('backup.db'), place.path('good.db'));
    await tamper(place.ledger, "UPDATE tasks SET title = 'forged' WHERE task_no = 1");
  },
  Restore: async (place) => {
    renameSync(place.path('backup.db'), place.path('last-week.db'));
    await place.addTasks('since then');
  },
  'A ledger that came with a clone': async (place) => {
    chmodSync(place.ledger, 0o644);
  },
  'Several servers': async (place) => {
    await call(await place.openAgent('alice'), 'task_list');
  },
};

/** Events between two lines of a section. */
const interludes: Record<string, (place: CliProject) => void> = {
  'colibri restore move.db': ({ ledger }) => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${ledger}${suffix}`, { force: true });
  },
};

let template: CliProject;

beforeAll(async () => {
  template = await createTemplate();
});
afterAll(() => template.remove());

/** A shell in which `colibri` is the built program. */
function createShell(place: CliProject): (command: string) => Promise<Ran> {
  const shim = `${place.mkdir('bin')}/colibri`;
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  chmodSync(shim, 0o700);
  const env = {
    ...inherited(),
    XDG_CONFIG_HOME: place.path('config'),
    PATH: `${place.path('bin')}:${inherited()['PATH']}`,
  };
  return (command) => finished(spawn('bash', ['-c', command], { cwd: place.folder, env }));
}

describe('docs/operations.md', () => {
  it('has command lines in every section about commands', () => {
    expect(sections.map(({ title }) => title)).toEqual([
      'Backup',
      'Restore',
      'When `verify` is red',
      'A ledger that came with a clone',
      'Upgrade',
      'Modes',
      'Several servers',
      'Moving to another machine',
    ]);
  });

  for (const { title, lines } of sections) {
    promiseTest('backup/documented', title, async () => {
      const place = new CliProject({ like: template });
      await scenes[title]?.(place);
      const run = createShell(place);
      for (const { command, status } of lines) {
        interludes[command]?.(place);
        expect({ command, ...(await run(command)) }).toMatchObject({ command, status });
      }
      expect((await reportOf(place.ledger)).problems).toEqual([]);
    });
  }
});
