import pgpass from 'pgpass';

// It writes its warnings as plain text to stderr, where only JSON may stand; what is no stream it leaves alone.
pgpass.warnTo({});

/**
 * The password in ~/.pgpass, or in the file that PGPASSFILE names. The driver looks there by itself, and says each time
 * that it will not for ever.
 */
export function lookUpPassword(connection: object): Promise<string | undefined> {
  return new Promise((resolve) => pgpass(connection, resolve));
}
