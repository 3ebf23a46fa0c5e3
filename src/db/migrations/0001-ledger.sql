-- The log: one row for each event, in commit order, never changed. idx is the index of the leaf.
CREATE TABLE ledger_entries (
  idx   INTEGER PRIMARY KEY,
  kind  TEXT NOT NULL,
  entry TEXT NOT NULL
);

-- How many entries there are, and a running hash over the newest, which no stored node covers yet. Every writer updates
-- this one row, so writers take turns and no index is given twice.
CREATE TABLE ledger_head (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  size BIGINT NOT NULL,
  tail TEXT NOT NULL
);
INSERT INTO ledger_head (id, size, tail) VALUES (1, 0, '');

-- The hashes of finished subtrees of 16, 256, 4096, … leaves (level 4, 8, 12, …). All others are computed from these.
CREATE TABLE ledger_nodes (
  level INTEGER NOT NULL,
  idx   BIGINT NOT NULL,
  hash  TEXT NOT NULL,
  PRIMARY KEY (level, idx)
);

-- What the two entries of a call say, and the content that they hold only a digest of.
CREATE TABLE calls (
  sequence_no INTEGER PRIMARY KEY,
  tool        TEXT NOT NULL,
  actor       TEXT NOT NULL,
  process_id  TEXT NOT NULL,
  entered_at  TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  salt        TEXT NOT NULL,
  exit_idx    BIGINT,
  exited_at   TEXT,
  outcome     TEXT,
  duration_ms INTEGER,
  CHECK ((exit_idx IS NULL) = (outcome IS NULL)),
  CHECK ((exit_idx IS NULL) = (exited_at IS NULL))
);

-- Few rows at any time: what a dead process left open is found without reading the others.
CREATE INDEX calls_open ON calls (sequence_no) WHERE exit_idx IS NULL;

-- One row for each call, for people to read.
CREATE VIEW actions AS
SELECT
  sequence_no,
  tool,
  actor,
  entered_at,
  exited_at,
  COALESCE(outcome, 'running') AS outcome,
  duration_ms,
  arguments
FROM calls;
