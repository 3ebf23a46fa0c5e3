-- How many links of an open task lead to open ones: to those it depends on, and to its children. A task without such a
-- link has no row, so that creating a plain task writes nothing here. Subqueries and no join: PostgreSQL would hash whole
-- tables for each task if it had no statistics about them.
CREATE TABLE task_unmet (
  task_no INTEGER PRIMARY KEY,
  unmet   BIGINT NOT NULL
);
INSERT INTO task_unmet (task_no, unmet)
SELECT task_no, unmet FROM (
  SELECT waiting.task_no,
         (SELECT COUNT(*) FROM task_dependencies AS link WHERE link.task_no = waiting.task_no
            AND (SELECT is_open FROM tasks AS awaited WHERE awaited.task_no = link.depends_on) = 1)
         + (SELECT COUNT(*) FROM tasks AS child WHERE child.parent_no = waiting.task_no AND child.is_open = 1) AS unmet
  FROM tasks AS waiting
  WHERE waiting.task_no >= $1 AND waiting.task_no < $2 AND waiting.is_open = 1
) AS counted
WHERE unmet > 0;

-- From now on, is_ready is 2 for a task that could be picked up if it did not wait: the queue passes over those that do.
UPDATE tasks SET is_ready = 2
WHERE task_no >= $1 AND task_no < $2 AND is_ready = 1
  AND (SELECT unmet FROM task_unmet WHERE task_unmet.task_no = tasks.task_no) IS NOT NULL;
CREATE INDEX tasks_waiting ON tasks (project, priority DESC, task_no) WHERE is_ready = 2;
