/** All records of all sessions, by their places. */
export const SESSION_RECORDS = `(SELECT session_no, session_seq, idx FROM thoughts
   UNION ALL SELECT session_no, session_seq, idx FROM session_events) AS records`;
