-- The task events of each session, by their places. A thought has its place in its own row, and is not listed here any
-- more. A row that says something else than the thought is kept, for verification to find. The table has another name
-- than before, so that an older server that still runs is refused and does not write what this version cannot read.
CREATE TABLE session_events (
  session_no  BIGINT NOT NULL,
  session_seq BIGINT NOT NULL,
  idx         BIGINT NOT NULL,
  PRIMARY KEY (session_no, session_seq)
);
INSERT INTO session_events (session_no, session_seq, idx)
SELECT session_no, session_seq, idx FROM session_records
WHERE NOT EXISTS (
  SELECT 1 FROM thoughts
  WHERE thoughts.idx = session_records.idx
    AND thoughts.session_no = session_records.session_no
    AND thoughts.session_seq = session_records.session_seq
);
DROP TABLE session_records;
