/** "Coli" in ASCII, in the file's header: tells a ledger from any other SQLite file. */
export const APPLICATION_ID = 0x436f6c69;

/**
 * One statement, so that no other process can create the ledger in between. With parentheses, because a table of the
 * file that is named like a pragma would otherwise be read instead.
 */
export const HEADER = `SELECT application_id, user_version, NOT EXISTS (SELECT 1 FROM sqlite_schema) AS is_empty
  FROM pragma_application_id(), pragma_user_version()`;

/**
 * Every setting is explicit, because the two SQLite libraries have different defaults. SQLite itself never waits for a
 * busy lock, because that would block the event loop; `LockWait` does. SQLite copies a long log into the database with
 * a commit only if `WalCheckpoints` could not keep it short.
 */
export const PRAGMAS = `
  PRAGMA busy_timeout = 0;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA recursive_triggers = OFF;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA locking_mode = NORMAL;
  PRAGMA temp_store = MEMORY;
  PRAGMA mmap_size = 0;
  PRAGMA cache_size = -16000;
  PRAGMA wal_autocheckpoint = 8000;
  PRAGMA journal_size_limit = 16777216;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
`;
