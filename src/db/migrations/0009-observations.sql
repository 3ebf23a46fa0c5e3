-- What clients and git reported, one row for each `observed` entry. `key` is what makes two reports of one event equal.
CREATE TABLE observations (
  idx     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL,
  task_no BIGINT,
  salt    TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE UNIQUE INDEX observations_by_key ON observations (key);
CREATE INDEX observations_by_task ON observations (task_no, idx) WHERE task_no IS NOT NULL;

-- The last event of each session of a client, and the task that the session held after it.
CREATE TABLE observed_sessions (
  session  TEXT PRIMARY KEY,
  last_idx BIGINT NOT NULL,
  task_no  BIGINT
);
