-- A thought says itself which place in its session it has; session_records has the places of task events.
DELETE FROM session_records WHERE idx IN (SELECT idx FROM thoughts);
