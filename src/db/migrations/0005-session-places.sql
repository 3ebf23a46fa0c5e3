-- A thought says itself which place in its session it has; session_records has the places of task events. A row that
-- says something else than the thought stays, for verification to find.
DELETE FROM session_records WHERE EXISTS (
  SELECT 1 FROM thoughts
  WHERE thoughts.idx = session_records.idx
    AND thoughts.session_no = session_records.session_no
    AND thoughts.session_seq = session_records.session_seq
);
