-- Numbers that are given once: tasks, and the tasks of each project ("project/<slug>"). A project exists by its row.
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);

-- Each change of a task: the whole row after it, of which the log holds a salted digest.
CREATE TABLE task_events (
  idx     INTEGER PRIMARY KEY,
  task_no BIGINT NOT NULL,
  salt    TEXT NOT NULL,
  content TEXT NOT NULL
);

-- The tasks as they are now: for each the content of its last event, in columns.
CREATE TABLE tasks (
  task_no        INTEGER PRIMARY KEY,
  event_idx      BIGINT NOT NULL,
  project        TEXT NOT NULL,
  sequence       BIGINT NOT NULL,
  workflow       TEXT NOT NULL,
  status         TEXT NOT NULL,
  is_open        INTEGER NOT NULL,
  is_ready       INTEGER NOT NULL,
  title          TEXT NOT NULL,
  description    TEXT NOT NULL,
  priority       INTEGER NOT NULL,
  progress       INTEGER NOT NULL,
  assignee       TEXT NOT NULL,
  labels         TEXT NOT NULL,
  estimate_hours DOUBLE PRECISION,
  parent_no      BIGINT,
  depends_on     TEXT NOT NULL,
  blocked_reason TEXT,
  attempt        INTEGER NOT NULL,
  created_at     TEXT NOT NULL,
  created_by     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  updated_by     TEXT NOT NULL
);
CREATE INDEX tasks_by_update ON tasks (updated_at, task_no);
CREATE INDEX tasks_by_project ON tasks (project, updated_at, task_no);
CREATE INDEX tasks_by_assignee ON tasks (assignee, updated_at, task_no) WHERE assignee <> 'unassigned';
CREATE INDEX tasks_open ON tasks (project, updated_at, task_no) WHERE is_open = 1;
CREATE INDEX tasks_ready ON tasks (project, priority DESC, task_no) WHERE is_ready = 1;
CREATE INDEX tasks_blocked ON tasks (project, priority DESC, task_no) WHERE blocked_reason IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_no) WHERE parent_no IS NOT NULL;

CREATE TABLE task_labels (
  label   TEXT NOT NULL,
  task_no BIGINT NOT NULL,
  PRIMARY KEY (label, task_no)
);

CREATE TABLE task_dependencies (
  task_no    BIGINT NOT NULL,
  depends_on BIGINT NOT NULL,
  PRIMARY KEY (task_no, depends_on)
);
CREATE INDEX task_dependents ON task_dependencies (depends_on);

-- Who waits for whom: a task for those it depends on, and for its children.
CREATE VIEW task_waits AS
SELECT task_no AS waiting_no, depends_on AS awaited_no FROM task_dependencies
UNION ALL
SELECT parent_no AS waiting_no, task_no AS awaited_no FROM tasks WHERE parent_no IS NOT NULL;

-- How many tasks there are of each kind, so that a list can say how long it is without counting.
CREATE TABLE task_counts (
  project  TEXT NOT NULL,
  status   TEXT NOT NULL,
  priority INTEGER NOT NULL,
  assignee TEXT NOT NULL,
  tasks    BIGINT NOT NULL,
  PRIMARY KEY (project, status, priority, assignee)
);
