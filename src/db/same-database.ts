import { statSync } from 'node:fs';
import type { Database } from './database.ts';

type Place = Pick<Database, 'engine' | 'location' | 'read'>;

/** Are these two ways to one database? Names tell little: files have links, and servers have several addresses. */
export async function isSamePlace(one: Place, other: Place): Promise<boolean> {
  if (one.engine !== other.engine) return false;
  const identify = one.engine === 'sqlite' ? identifyFile : identifySchema;
  const [first, second] = [await identify(one), await identify(other)];
  return JSON.stringify(first) === JSON.stringify(second);
}

async function identifyFile({ location }: Place): Promise<unknown> {
  const { dev, ino } = statSync(location, { bigint: true });
  return [String(dev), String(ino)];
}

/** The moment of its start tells a server from every other, and the table is there once the database has been opened. */
function identifySchema(place: Place): Promise<unknown> {
  return place.read((reader) =>
    reader.query(
      `SELECT EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS started,
              (SELECT oid FROM pg_database WHERE datname = current_database()) AS database,
              CAST(to_regclass('colibri') AS OID) AS mark`,
    ),
  );
}
