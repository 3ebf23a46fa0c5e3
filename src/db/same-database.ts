import { statSync } from 'node:fs';
import type { Database } from './database.ts';

type Location = Pick<Database, 'engine' | 'location' | 'read'>;

/** Names do not tell: files have links, and servers have several addresses. */
export async function isSameDatabase(one: Location, other: Location): Promise<boolean> {
  if (one.engine !== other.engine) return false;
  const identify = one.engine === 'sqlite' ? identifyFile : identifySchema;
  const [first, second] = [await identify(one), await identify(other)];
  return JSON.stringify(first) === JSON.stringify(second);
}

async function identifyFile({ location }: Location): Promise<unknown> {
  const { dev, ino } = statSync(location, { bigint: true });
  return [String(dev), String(ino)];
}

/** The start time identifies the server. Opening a database creates the table `colibri`, if it did not exist. */
function identifySchema(database: Location): Promise<unknown> {
  return database.read((reader) =>
    reader.query(
      `SELECT EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS started,
              (SELECT oid FROM pg_database WHERE datname = current_database()) AS database,
              CAST(to_regclass('colibri') AS OID) AS mark`,
    ),
  );
}
