import type { Reader } from '../../db/database.ts';

/** SQLite answers at once, so a long check would keep signals waiting until it is over; this lets them in between. */
export function attentive(reader: Reader): Reader {
  return {
    engine: reader.engine,
    query: async (sql, parameters) => {
      await new Promise((resume) => setImmediate(resume));
      return reader.query(sql, parameters);
    },
  };
}
