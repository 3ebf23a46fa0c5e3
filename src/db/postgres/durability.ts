import type { Durability, Reader } from '../database.ts';

const SETTINGS = `SELECT name, setting FROM pg_settings
  WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names') ORDER BY name`;

/**
 * What can lose an acknowledged commit when a synchronous standby exists but the commit does not wait for its disk.
 * https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT
 */
const REACH: Readonly<Record<string, string>> = {
  local: 'a failover may lose acknowledged changes',
  remote_write: 'a crash of both machines may lose acknowledged changes',
};

/** Derives the durability of a commit from the settings of the server and of the role. */
export async function readDurability(reader: Reader): Promise<Durability> {
  const rows = await reader.query<{ name: string; setting: string }>(SETTINGS);
  const { synchronous_standby_names: standbys, ...settings } = Object.fromEntries(
    rows.map(({ name, setting }) => [name, setting]),
  );
  const off = Object.keys(settings).filter((name) => settings[name] === 'off');
  if (off.length > 0) {
    const weak = off.map((name) => `${name} = off`).join(', ');
    const weakness = `the database server runs with ${weak}: a crash of its machine may lose acknowledged changes`;
    return { level: 'relaxed', weakness };
  }
  const commit = settings['synchronous_commit'] ?? 'on';
  const loss = REACH[commit];
  // Without a standby these levels mean the same as `on`.
  if (loss === undefined || !standbys) return { level: 'full' };
  const weakness = `the database server has a synchronous standby and runs with synchronous_commit = ${commit}: ${loss}`;
  return { level: 'full', weakness };
}
