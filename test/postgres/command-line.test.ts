import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { SigningProject } from '../proofs/support.ts';
import { tempFolder } from '../support/folders.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl, openTestPostgres, queryOn } from '../support/postgres/database.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, createVersion } from '../support/sample-ledgers.ts';

const COMMANDS: readonly (readonly string[])[] = [
  ['board'],
  ['board', '--json'],
  ['board', '--project', 'release'],
  ['board', '--project', 'nowhere'],
  ['show', '1'],
  ['show', 'T-0003', '--json'],
  ['show', '77'],
  ['next'],
  ['next', '--json'],
  ['log'],
  ['log', '-n', '5', '--json'],
  ['verify'],
  ['verify', '--json'],
];

describe('the command line on PostgreSQL', () => {
  promiseTest('cli/people-begin', 'an empty database names a command that creates the ledger', async () => {
    const env = { COLIBRI_DATABASE_URL: await newPostgresUrl() };
    const says = /is empty; start a server in FULL mode, the default, to create the ledger: (.*)$/m;
    for (const command of [['board'], ['show', '1'], ['next'], ['log'], ['verify']]) {
      const { status, stderr } = await runColibri(command, env, tempFolder());
      expect([command, status]).toEqual([command, 2]);
      expect(stderr).toMatch(says);
      expect(says.exec(stderr)?.[1]).toBe('colibri serve < /dev/null');
    }
    expect(await runColibri(['serve'], env, tempFolder())).toMatchObject({ status: 0 });
    const { status, stdout } = await runColibri(['board'], env, tempFolder());
    expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is empty')]);
  });

  promiseTest('cli/people-begin', 'only add and call create a ledger in an empty database', async () => {
    const url = await newPostgresUrl();
    const ada = new SigningProject();
    const run = (...args: string[]) => runColibri(args, { ...ada.env, COLIBRI_DATABASE_URL: url }, ada.folder);
    for (const command of [
      ['done', '1'],
      ['seal', 'A-0001'],
      ['redact', 'T-0001', '--reason', 'why', '--yes'],
      ['project', '--review', 'person'],
      ['checkpoint'],
      ['prove', '0', '--out', ada.path('proof')],
      ['publish', ada.path('public')],
      ['export', '--all', '--out', ada.path('bundle')],
      ['board', '--html', ada.path('board.html')],
    ]) {
      const { status, stderr } = await run(...command);
      expect([command, status, stderr]).toEqual([command, 2, expect.stringContaining('is empty; start a server')]);
    }
    const [schema] = new URL(url).searchParams.getAll('options').map((option) => option.replace(/.*=/, ''));
    expect(await queryOn(url, `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`)).toEqual([]);
    expect(await run('add', 'one')).toMatchObject({ status: 0 });
  });

  promiseTest('cli/people-wrong', 'a ledger of an older version names the command that migrates it', async () => {
    const env = { COLIBRI_DATABASE_URL: await newPostgresUrl() };
    await createVersion(await openTestPostgres({ url: env.COLIBRI_DATABASE_URL }), 1);
    const { stderr } = await runColibri(['board'], env, tempFolder());
    expect(stderr).toMatch(/has schema 1, .*; start a server in FULL mode, the default, to migrate it: colibri serve/);
  });

  promiseTest('team/same', 'every command that shows a ledger prints the same text as on SQLite', async () => {
    const folder = tempFolder();
    const path = join(folder, 'colibri.db');
    placeLedger(path, path);
    await buildFullLedger(path);
    const url = await newPostgresUrl();
    const onFile = { COLIBRI_DB_PATH: path };
    const onServer = { COLIBRI_DATABASE_URL: url };
    expect(await runColibri(['copy', '--to', url], onFile, folder)).toMatchObject({ status: 0 });
    for (const command of COMMANDS) {
      const show = async (env: Record<string, string>) => {
        const shown = await runColibri([...command], env, folder);
        return { ...shown, stdout: blankAges(shown.stdout) };
      };
      const expected = await show(onFile);
      expect(expected.stdout + expected.stderr, command.join(' ')).not.toBe('');
      expect([command, await show(onServer)]).toEqual([command, expected]);
    }
  });
});

/** The two runs are not at the same time, so how long ago something happened may differ. */
function blankAges(text: string): string {
  return text
    .replaceAll(/\b\d[\d a-z]* ago */g, 'AGE ago ')
    .replaceAll(/\bsilent (?:for )?\d\S* */g, 'silent AGE ')
    .replaceAll(/"silent_for_s": ?\d+/g, '"silent_for_s":0');
}
