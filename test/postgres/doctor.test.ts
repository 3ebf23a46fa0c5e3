import { describe, expect } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { AT } from '../support/ledger.ts';
import { newPostgresUrl, openTestPostgres, queryOn, runOn } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createVersion } from '../support/sample-ledgers.ts';

async function createLedger(): Promise<string> {
  const url = await newPostgresUrl();
  await openLedger(await openTestPostgres({ url }), 'tester', AT);
  return url;
}

/** The URL with more settings for its connections. */
function withOption(url: string, setting: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', `${changed.searchParams.get('options')} -c ${setting}`);
  return changed.href;
}

function listTables(url: string) {
  return queryOn(url, 'SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())');
}

describe('colibri doctor on PostgreSQL', () => {
  promiseTest('doctor/healthy', 'reports the PostgreSQL server instead of a file', async () => {
    const url = await createLedger();
    const { status, stderr, checks, find } = await diagnose(url);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(checks.map(({ check }) => check)).toEqual(
      'colibri node configuration ledger server role durability encryption connections clients skills'.split(' '),
    );
    const { stdout } = await runColibri(['verify', '--json'], { COLIBRI_DATABASE_URL: url }, tempFolder());
    const { size, root } = JSON.parse(stdout) as { size: number; root: string };
    expect(find('ledger')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(new RegExp(`^postgres://.*, schema \\d+, ${size} entries, root ${root}$`)),
    });
    expect(find('server')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^PostgreSQL \d+.*a primary$/),
    });
    expect(find('durability')).toMatchObject({ status: 'ok', message: 'full' });
    expect(find('encryption')?.status).toBe('ok');
  });

  promiseTest('doctor/healthy', 'counts the connected servers', async () => {
    const url = await createLedger();
    const connected = async () => {
      const message = (await diagnose(url)).find('connections')?.message ?? '';
      return Number(/^\d+ of \d+ in use, (\d+) of them by other Colibri processes$/.exec(message)?.[1]);
    };
    const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url } });
    await client.data('server_health');
    // Other tests have servers on the same database.
    expect(await connected()).toBeGreaterThan(0);
    await client.end();
  });

  promiseTest('doctor/touches-nothing', 'in an empty schema', async () => {
    const url = await newPostgresUrl();
    const { status, find } = await diagnose(url);
    expect(status).toBe(0);
    expect(find('ledger')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^no ledger in postgres:.* yet$/),
    });
    expect(await listTables(url)).toEqual([]);
  });

  promiseTest('doctor/touches-nothing', 'in a ledger', async () => {
    const url = await createLedger();
    const look = async () => [await listTables(url), await queryOn(url, 'SELECT * FROM ledger_head, colibri, calls')];
    const before = await look();
    await diagnose(url);
    expect(await look()).toEqual(before);
  });

  const WRONG: [string, (url: string) => Promise<string>, Record<string, RegExp>, number][] = [
    [
      'a ledger of a newer version',
      spoiledBy('UPDATE colibri SET schema_version = 99'),
      { ledger: /fail .*newer Colibri \(schema 99/ },
      1,
    ],
    [
      'a ledger of an older version',
      async () => {
        const url = await newPostgresUrl();
        await createVersion(await openTestPostgres({ url }), 1);
        return url;
      },
      { ledger: /warn .*has schema 1/ },
      0,
    ],
    ['a log that was cut', spoiledBy('DELETE FROM ledger_entries'), { ledger: /fail .*the ledger misses rows/ }, 1],
    [
      'commits that do not wait for the disk',
      async (url) => withOption(url, 'synchronous_commit=off'),
      { durability: /warn .*synchronous_commit = off/ },
      0,
    ],
    ['a role that could rewrite the log', async (url) => url, { role: /warn .*may change and delete entries/ }, 0],
    ['tables of another program', otherTables, { ledger: /fail .*tables of another program/ }, 1],
    [
      'a server that is not there',
      async () => 'postgres://alice:hidden@127.0.0.1:1/colibri',
      { ledger: /fail .*cannot be reached/ },
      1,
    ],
  ];
  for (const [what, spoil, findings, exitCode] of WRONG) {
    promiseTest('doctor/finds', what, async () => {
      const { status, find, checks } = await diagnose(await spoil(await createLedger()));
      expect(status).toBe(exitCode);
      for (const [name, says] of Object.entries(findings)) {
        const found = find(name);
        expect(`${found?.status} ${found?.message} ${found?.fix}`).toMatch(says);
      }
      expect(JSON.stringify(checks)).not.toContain('hidden');
    });
  }

  promiseTest('doctor/healthy', 'MINIMAL does not connect', async () => {
    const { status, find } = await diagnose('postgres://127.0.0.1:1/colibri', { COLIBRI_MODE: 'MINIMAL' });
    expect({ status, ledger: find('ledger')?.status }).toEqual({ status: 0, ledger: 'ok' });
  });
});

/** A change made with a database tool. */
function spoiledBy(script: string): (url: string) => Promise<string> {
  return async (url) => {
    await runOn(url, script);
    return url;
  };
}

async function otherTables(): Promise<string> {
  const url = await newPostgresUrl();
  await runOn(url, 'CREATE TABLE invoices (id INTEGER)');
  return url;
}
