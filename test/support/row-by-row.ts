import type { Reader } from '../../src/db/database.ts';

/** A store that never hands out many rows as one value, so that verification reads and parses every one of them. */
export function rowByRow(reader: Reader): Reader {
  return {
    engine: reader.engine,
    query: (sql, parameters) => (sql.includes('AS whole') ? Promise.resolve([]) : reader.query(sql, parameters)),
  };
}

/** Counts the questions that only a reading row by row asks. */
export function countRowQueries(reader: Reader): Reader & { readonly counted: () => number } {
  let count = 0;
  return {
    engine: reader.engine,
    query: (sql, parameters) => {
      if (/^SELECT (?:\*|idx, kind, entry) FROM (?:calls|thoughts|ledger_entries)\b/.test(sql)) count += 1;
      return reader.query(sql, parameters);
    },
    counted: () => count,
  };
}
