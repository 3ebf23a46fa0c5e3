import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { keeps } from '../support/keeps.ts';
import { placeLedger } from '../support/ledger-place.ts';
import { newPostgresUrl } from '../support/postgres/database.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { runColibri } from '../support/trail-command.ts';
import { buildScenery } from '../support/trail-scenery.ts';

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
  keeps('team/same', 'every command that shows a ledger prints the same as on SQLite', async () => {
    const folder = tempFolder();
    const path = join(folder, 'colibri.db');
    placeLedger(path, path);
    await buildScenery(path);
    const url = await newPostgresUrl();
    const onFile = { COLIBRI_DB_PATH: path };
    const onServer = { COLIBRI_DATABASE_URL: url };
    expect(await runColibri(['copy', '--to', url], onFile, folder)).toMatchObject({ status: 0 });
    for (const command of COMMANDS) {
      const expected = await runColibri([...command], onFile, folder);
      expect(expected.stdout + expected.stderr, command.join(' ')).not.toBe('');
      expect([command, await runColibri([...command], onServer, folder)]).toEqual([command, expected]);
    }
  });
});
