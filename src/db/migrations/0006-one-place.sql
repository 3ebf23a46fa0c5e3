-- What an entry says has no second copy, and private content is stored once: the arguments of a call beside its enter
-- entry, the current version of a task as its row in tasks, earlier versions in task_versions.
-- Statements with $1 and $2 run in ranges of entry indexes, so that their progress can be shown.
CREATE TABLE lean_entries (
  idx     INTEGER PRIMARY KEY,
  entry   TEXT NOT NULL,
  salt    TEXT,
  content TEXT
);
INSERT INTO lean_entries (idx, entry, salt, content)
SELECT ledger_entries.idx, ledger_entries.entry, calls.salt, calls.arguments
FROM ledger_entries LEFT JOIN calls ON calls.sequence_no = ledger_entries.idx
WHERE ledger_entries.idx >= $1 AND ledger_entries.idx < $2
ORDER BY ledger_entries.idx;

-- The current version of each task: the content whose digest entry event_idx holds, in columns. Times are milliseconds.
CREATE TABLE lean_tasks (
  task_no        INTEGER PRIMARY KEY,
  event_idx      BIGINT NOT NULL,
  salt           TEXT NOT NULL,
  project        TEXT NOT NULL,
  sequence       BIGINT NOT NULL,
  workflow       TEXT NOT NULL,
  status         TEXT NOT NULL,
  is_open        INTEGER NOT NULL,
  is_ready       INTEGER NOT NULL,
  title          TEXT NOT NULL,
  description    TEXT NOT NULL,
  priority       INTEGER NOT NULL,
  progress       DOUBLE PRECISION NOT NULL,
  assignee       TEXT NOT NULL,
  labels         TEXT NOT NULL,
  estimate_hours DOUBLE PRECISION,
  parent_no      BIGINT,
  depends_on     TEXT NOT NULL,
  blocked_reason TEXT,
  attempt        INTEGER NOT NULL,
  created_at     BIGINT NOT NULL,
  created_by     TEXT NOT NULL,
  updated_at     BIGINT NOT NULL,
  updated_by     TEXT NOT NULL
);
INSERT INTO lean_tasks
SELECT tasks.task_no, event_idx, COALESCE(salt, ''), project, sequence, workflow, status, is_open, is_ready, title,
       description, priority, progress, assignee, labels, estimate_hours, parent_no, depends_on, blocked_reason, attempt,
       EPOCH_MS(created_at), created_by, EPOCH_MS(updated_at), updated_by
FROM tasks LEFT JOIN task_events ON task_events.idx = tasks.event_idx AND task_events.task_no = tasks.task_no
WHERE tasks.task_no >= $1 AND tasks.task_no < $2
ORDER BY tasks.task_no;
-- Every task has an entry of its own, so these numbers are forged. They are kept for verification to report.
INSERT INTO lean_tasks
SELECT task_no, event_idx, '', project, sequence, workflow, status, is_open, is_ready, title, description, priority,
       progress, assignee, labels, estimate_hours, parent_no, depends_on, blocked_reason, attempt, EPOCH_MS(created_at),
       created_by, EPOCH_MS(updated_at), updated_by
FROM tasks
WHERE task_no < (SELECT MIN(idx) FROM ledger_entries) OR task_no > (SELECT MAX(idx) FROM ledger_entries);

DROP VIEW task_waits;
DROP TABLE tasks;
ALTER TABLE lean_tasks RENAME TO tasks;
CREATE INDEX tasks_by_update ON tasks (updated_at, task_no);
CREATE INDEX tasks_by_project ON tasks (project, is_open, updated_at, task_no);
CREATE INDEX tasks_by_assignee ON tasks (assignee, updated_at, task_no) WHERE assignee <> 'unassigned';
CREATE INDEX tasks_ready ON tasks (project, priority DESC, task_no) WHERE is_ready = 1;
CREATE INDEX tasks_blocked ON tasks (project, priority DESC, task_no) WHERE blocked_reason IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_no) WHERE parent_no IS NOT NULL;

-- Who waits for whom: a task for those it depends on, and for its children.
CREATE VIEW task_waits AS
SELECT task_no AS waiting_no, depends_on AS awaited_no FROM task_dependencies
UNION ALL
SELECT parent_no AS waiting_no, task_no AS awaited_no FROM tasks WHERE parent_no IS NOT NULL;

-- The versions of a task before the current one, each as its entry digests it.
CREATE TABLE task_versions (
  idx     INTEGER PRIMARY KEY,
  task_no BIGINT NOT NULL,
  salt    TEXT NOT NULL,
  content TEXT
);
INSERT INTO task_versions (idx, task_no, salt, content)
SELECT idx, task_no, salt, content FROM task_events
WHERE idx >= $1 AND idx < $2
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task_no = task_events.task_no AND tasks.event_idx = task_events.idx)
ORDER BY idx;
-- Rows that no entry accounts for are kept: verification reports them.
INSERT INTO task_versions (idx, task_no, salt, content)
SELECT idx, task_no, salt, content FROM task_events
WHERE idx < (SELECT MIN(idx) FROM ledger_entries) OR idx > (SELECT MAX(idx) FROM ledger_entries);
CREATE INDEX task_versions_by_task ON task_versions (task_no, idx);
DROP TABLE task_events;

-- Leads from a call to the entry that ended it. Created after task_waits: SQLite's integrity_check passes over the free
-- pages if a view is the first table in its hash of names, and a later table with a place of its own comes before it.
CREATE TABLE call_exits (
  sequence_no INTEGER PRIMARY KEY,
  exit_idx    BIGINT NOT NULL
);
INSERT INTO call_exits (sequence_no, exit_idx)
SELECT sequence_no, exit_idx FROM calls
WHERE exit_idx IS NOT NULL AND sequence_no >= $1 AND sequence_no < $2
ORDER BY sequence_no;

DROP VIEW actions;
DROP TABLE calls;
DROP TABLE ledger_entries;
ALTER TABLE lean_entries RENAME TO ledger_entries;
