import type { Reader } from '../db/database.ts';

const QUERIES_PER_TURN = 4;

/** SQLite answers at once, so a long check would keep signals waiting until it is over; this lets them in between. */
export function attentive(reader: Reader): Reader {
  let queries = 0;
  return {
    query: async (sql, parameters) => {
      queries += 1;
      if (queries % QUERIES_PER_TURN === 0) await new Promise((resume) => setImmediate(resume));
      return reader.query(sql, parameters);
    },
  };
}
