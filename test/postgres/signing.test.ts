import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parseCheckpoint } from '../../src/integrity/index.ts';
import { SigningProject } from '../proofs/support.ts';
import { newPostgresUrl, runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';

/** A user with a key and a configuration folder, on a ledger in PostgreSQL that several of them share. */
class TeamMember extends SigningProject {
  url: string;

  constructor(url: string) {
    super();
    this.url = url;
  }

  override get env(): Record<string, string> {
    return { ...super.env, COLIBRI_DATABASE_URL: this.url };
  }
}

describe('checkpoints of a ledger in PostgreSQL', () => {
  promiseTest('checkpoint/signed', 'by every member of a team, each with a key that the log introduces', async () => {
    const url = await newPostgresUrl();
    const [ada, bob] = [new TeamMember(url), new TeamMember(url)];
    await ada.colibri('add', 'one');
    const first = parseCheckpoint(await ada.checkpoint());
    const second = parseCheckpoint(await bob.checkpoint());
    expect(second).toMatchObject({ origin: first.origin });
    expect(second.size).toBe(first.size + 1);
    const { keys } = JSON.parse((await ada.colibri('key', '--json')).stdout) as { keys: { is_replaced: boolean }[] };
    expect(keys.map(({ is_replaced }) => is_replaced)).toEqual([false, false]);
    expect((await bob.colibri('verify')).status).toBe(0);
    await bob.colibri('export', '--all', '--out', bob.path('bundle'));
    const key = (await bob.colibri('key')).stdout.trim();
    expect((await bob.colibri('verify', bob.path('bundle'), '--key', key)).status).toBe(0);
    expect(await bob.colibri('publish', bob.path('public'))).toMatchObject({ status: 0 });
  });

  promiseTest('checkpoint/replaced', 'a ledger in another schema of the same database replaces none', async () => {
    const ada = new TeamMember(await newPostgresUrl());
    await ada.colibri('add', 'one');
    const { origin } = parseCheckpoint(await ada.checkpoint());
    const first = ada.url;
    ada.url = await newPostgresUrl();
    await ada.colibri('add', 'two');
    await ada.checkpoint();
    expect((await ada.colibri('verify')).stdout).not.toContain('another one');
    const schema = /search_path=(\w+)/.exec(decodeURIComponent(first).replace('+', ' '))?.[1];
    await runOn(first, `DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}`);
    ada.url = first;
    await ada.colibri('add', 'three');
    await ada.checkpoint();
    expect((await ada.colibri('verify')).stdout).toContain(`you signed another one at this location: ${origin}`);
  });

  promiseTest(
    'checkpoint/rollback',
    'a cut log is served read-only, and continues as a new one by a person',
    async () => {
      const url = await newPostgresUrl();
      const ada = new TeamMember(url);
      await ada.colibri('add', 'one');
      const { size } = parseCheckpoint(await ada.checkpoint());
      await ada.colibri('add', 'two');
      const later = parseCheckpoint(await ada.checkpoint());
      const folder = join(ada.config, 'colibri', 'checkpoints');
      expect(readdirSync(folder)).toHaveLength(1);
      const cut = [`DELETE FROM ledger_entries WHERE idx >= ${size}`, `UPDATE ledger_head SET size = ${size}`].join(
        '; ',
      );
      await runOn(url, cut);
      expect(later.size).toBeGreaterThan(size);
      expect((await ada.colibri('add', 'three')).stderr).toContain('colibri continue');
      expect(await ada.colibri('continue', '--yes')).toMatchObject({ status: 0 });
      expect(readdirSync(folder)).toHaveLength(1);
      await ada.checkpoint();
      expect(readdirSync(folder)).toHaveLength(2);
    },
  );
});
