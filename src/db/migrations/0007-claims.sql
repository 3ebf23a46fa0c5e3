-- Signs of life: the newest call of each actor and of each live process, and every call that has not ended. The clock
-- says when the call was entered; unknown for calls that were entered before this migration.
CREATE TABLE presence (
  sequence_no INTEGER PRIMARY KEY,
  actor       TEXT NOT NULL,
  clock_id    TEXT,
  clock_ms    BIGINT
);
-- In ranges, because SQLite sorts in memory.
CREATE TABLE newest_calls (
  actor       TEXT PRIMARY KEY,
  sequence_no BIGINT NOT NULL
);
INSERT INTO newest_calls (actor, sequence_no)
SELECT actor, MAX(sequence_no) FROM calls WHERE sequence_no >= $1 AND sequence_no < $2 GROUP BY actor
ON CONFLICT (actor) DO UPDATE SET sequence_no = excluded.sequence_no;
INSERT INTO presence (sequence_no, actor) SELECT sequence_no, actor FROM newest_calls;
DROP TABLE newest_calls;
-- Rows that no entry accounts for are kept: verification reports them.
INSERT INTO presence (sequence_no, actor)
SELECT open_calls.sequence_no, COALESCE(calls.actor, '')
FROM open_calls LEFT JOIN calls ON calls.sequence_no = open_calls.sequence_no
WHERE open_calls.sequence_no NOT IN (SELECT sequence_no FROM presence);
DROP TABLE open_calls;

-- The agent that has the claim on a task, the one that it took the task from, and the entry of the latest claim, which
-- is its fencing token.
ALTER TABLE tasks ADD COLUMN holder TEXT;
ALTER TABLE tasks ADD COLUMN taken_from TEXT;
ALTER TABLE tasks ADD COLUMN claim_idx BIGINT;
CREATE INDEX tasks_by_holder ON tasks (holder, task_no) WHERE holder IS NOT NULL;
CREATE INDEX tasks_taken_over ON tasks (taken_from, task_no) WHERE taken_from IS NOT NULL;
