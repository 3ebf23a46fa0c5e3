import pgpass from 'pgpass';

// The library writes plain-text warnings, and stderr must hold only JSON lines; it ignores a value that is not a
// stream.
pgpass.warnTo({});

/** Reads ~/.pgpass or the file in PGPASSFILE. The driver's own lookup prints a deprecation warning each time. */
export function lookUpPassword(connection: object): Promise<string | undefined> {
  return new Promise((resolve) => pgpass(connection, resolve));
}
