-- A stretch of work that is sealed as one. Its records are the thoughts and task events listed in session_records.
CREATE TABLE sessions (
  session_no    INTEGER PRIMARY KEY,
  start_idx     BIGINT NOT NULL,
  task_no       BIGINT NOT NULL,
  scope         TEXT NOT NULL,
  auditor_id    TEXT NOT NULL,
  reason        TEXT,
  salt          TEXT NOT NULL,
  started_at    TEXT NOT NULL,
  started_by    TEXT NOT NULL,
  record_count  BIGINT NOT NULL,
  finalized_idx BIGINT,
  finalized_at  TEXT,
  sealed_task_no BIGINT,
  root          TEXT,
  leaf_count    BIGINT,
  CHECK ((finalized_idx IS NULL) = (root IS NULL)),
  CHECK ((finalized_idx IS NULL) = (leaf_count IS NULL)),
  CHECK ((finalized_idx IS NULL) = (finalized_at IS NULL))
);
CREATE UNIQUE INDEX sessions_live ON sessions (task_no) WHERE finalized_idx IS NULL;

CREATE TABLE session_records (
  session_no  BIGINT NOT NULL,
  session_seq BIGINT NOT NULL,
  idx         BIGINT NOT NULL,
  PRIMARY KEY (session_no, session_seq)
);

-- The decisions, chained task by task. The hash covers the first part, the extras digest of the log the second.
CREATE TABLE thoughts (
  thought_no     INTEGER PRIMARY KEY,
  idx            BIGINT NOT NULL,
  task_no        BIGINT NOT NULL,
  chain_position BIGINT NOT NULL,
  attempt        INTEGER NOT NULL,
  session_no     BIGINT NOT NULL,
  session_seq    BIGINT NOT NULL,
  type           TEXT NOT NULL,
  content        TEXT NOT NULL,
  recorded_at    TEXT NOT NULL,
  recorded_by    TEXT NOT NULL,
  previous_hash  TEXT,
  hash           TEXT NOT NULL,
  extras         TEXT NOT NULL,
  salt           TEXT NOT NULL,
  UNIQUE (task_no, chain_position),
  UNIQUE (task_no, previous_hash)
);
-- NULLs are never equal to a UNIQUE constraint: without this a chain could begin twice.
CREATE UNIQUE INDEX thoughts_first ON thoughts (task_no) WHERE previous_hash IS NULL;
CREATE UNIQUE INDEX thoughts_by_session ON thoughts (session_no, session_seq);
CREATE UNIQUE INDEX thoughts_by_entry ON thoughts (idx);
