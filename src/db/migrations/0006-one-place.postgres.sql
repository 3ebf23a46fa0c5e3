
ALTER INDEX lean_entries_pkey RENAME TO ledger_entries_pkey;
ALTER INDEX lean_tasks_pkey RENAME TO tasks_pkey;

-- What the entries of each call say.
CREATE VIEW calls AS
SELECT
  enter.idx AS sequence_no,
  CAST(enter.entry AS JSONB) ->> 'tool' AS tool,
  CAST(enter.entry AS JSONB) ->> 'actor' AS actor,
  CAST(enter.entry AS JSONB) ->> 'process_id' AS process_id,
  CAST(enter.entry AS JSONB) ->> 'at' AS entered_at,
  enter.content AS arguments,
  enter.salt AS salt,
  call_exits.exit_idx AS exit_idx,
  CAST(leave.entry AS JSONB) ->> 'at' AS exited_at,
  CASE WHEN leave.idx IS NOT NULL THEN COALESCE(CAST(leave.entry AS JSONB) ->> 'outcome', 'interrupted') END AS outcome,
  CAST(CAST(leave.entry AS JSONB) ->> 'duration_ms' AS BIGINT) AS duration_ms,
  CAST(leave.entry AS JSONB) ->> 'answer' AS answer
FROM ledger_entries AS enter
LEFT JOIN call_exits ON call_exits.sequence_no = enter.idx
LEFT JOIN ledger_entries AS leave ON leave.idx = call_exits.exit_idx
WHERE enter.salt IS NOT NULL;

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
  COALESCE(arguments, '') AS arguments,
  answer AS result_digest
FROM calls;

-- The calls that have not ended: at most one for each running server, and what dead servers left behind.
CREATE TABLE open_calls (
  sequence_no BIGINT PRIMARY KEY
);
INSERT INTO open_calls (sequence_no)
SELECT enter.idx FROM ledger_entries AS enter LEFT JOIN call_exits ON call_exits.sequence_no = enter.idx
WHERE enter.salt IS NOT NULL AND call_exits.sequence_no IS NULL;
