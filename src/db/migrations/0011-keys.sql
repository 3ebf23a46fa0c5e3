-- The public keys that sign checkpoints of this log, one row for each entry that introduced one.
CREATE TABLE ledger_keys (
  idx      INTEGER PRIMARY KEY,
  key      TEXT NOT NULL,
  replaces TEXT
);
CREATE UNIQUE INDEX ledger_keys_by_key ON ledger_keys (key);
