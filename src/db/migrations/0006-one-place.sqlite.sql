
-- What the entries of each call say. A text that is not JSON, which only tampering stores, gives empty columns.
CREATE VIEW calls AS
SELECT
  enter.idx AS sequence_no,
  COALESCE(CASE WHEN json_valid(enter.entry) THEN enter.entry ->> 'tool' END, '') AS tool,
  COALESCE(CASE WHEN json_valid(enter.entry) THEN enter.entry ->> 'actor' END, '') AS actor,
  COALESCE(CASE WHEN json_valid(enter.entry) THEN enter.entry ->> 'process_id' END, '') AS process_id,
  COALESCE(CASE WHEN json_valid(enter.entry) THEN enter.entry ->> 'at' END, '') AS entered_at,
  enter.content AS arguments,
  enter.salt AS salt,
  call_exits.exit_idx AS exit_idx,
  CASE WHEN json_valid(leave.entry) THEN leave.entry ->> 'at' END AS exited_at,
  CASE WHEN json_valid(leave.entry) THEN COALESCE(leave.entry ->> 'outcome', 'interrupted') END AS outcome,
  CASE WHEN json_valid(leave.entry) THEN leave.entry ->> 'duration_ms' END AS duration_ms,
  CASE WHEN json_valid(leave.entry) THEN leave.entry ->> 'answer' END AS answer
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
  sequence_no INTEGER PRIMARY KEY
);
INSERT INTO open_calls (sequence_no)
SELECT enter.idx FROM ledger_entries AS enter LEFT JOIN call_exits ON call_exits.sequence_no = enter.idx
WHERE enter.salt IS NOT NULL AND call_exits.sequence_no IS NULL;
