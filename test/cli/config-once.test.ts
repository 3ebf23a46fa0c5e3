import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliProject } from '../support/cli-project.ts';
import { PROGRAM } from '../support/program.ts';

/** Counts how often the program reads a variable that only the configuration reads, and reports it at the exit. */
const COUNTER = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  let count = 0;
  const get = (target, name) => {
    if (name === 'COLIBRI_MODE') count += 1;
    return target[name];
  };
  process.env = new Proxy(process.env, { get });
  process.on('exit', () => writeSync(2, 'read ' + count + ' times'));
`)}`;

let template: CliProject;
beforeAll(async () => {
  template = new CliProject({ isShared: true });
  await template.addTasks('one');
  await template.run('backup', 'backup.db');
});
afterAll(() => template.remove());

it.each([
  ['board'],
  ['show', '1'],
  ['next'],
  ['log'],
  ['verify'],
  ['trust'],
  ['doctor'],
  ['backup', 'second.db'],
  ['restore', 'backup.db'],
  ['copy', '--to', 'copy.db'],
  ['serve'],
])('colibri %s reads the configuration once', async (...command) => {
  const place = new CliProject({ like: template });
  const child = place.spawn([COUNTER, PROGRAM, ...command], { program: '--import' });
  child.stdin?.end();
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout?.resume();
  const status = await new Promise((resolve) => child.on('close', resolve));
  expect({ status, count: /read (\d+) times/.exec(errors)?.[1] }).toEqual({ status: 0, count: '1' });
});
