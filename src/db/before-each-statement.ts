import type { Reader } from './database.ts';

/** The same reader, which runs `before` ahead of every statement and fails with it. */
export function beforeEachStatement(reader: Reader, before: (sql: string) => Promise<void> | void): Reader {
  return {
    engine: reader.engine,
    query: async (sql, parameters) => {
      await before(sql);
      return reader.query(sql, parameters);
    },
    queryStored: async (sql, parameters) => {
      await before(sql);
      return reader.queryStored(sql, parameters);
    },
  };
}
