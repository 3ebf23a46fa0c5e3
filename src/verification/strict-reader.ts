import type { Reader } from '../db/database.ts';

/** Reads every value as it is stored: a value that the driver would alter arrives as bytes, which equal nothing. */
export function strictReader(reader: Reader): Reader {
  const query: Reader['query'] = (sql, parameters) => reader.queryStored(sql, parameters);
  return { engine: reader.engine, query, queryStored: query };
}
