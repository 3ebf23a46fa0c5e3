-- The fencing token of the claim by which a session of a client holds its task, and the calls that it began and did not
-- end: an object with the entry of the beginning under each call id.
ALTER TABLE observed_sessions ADD COLUMN claim_idx BIGINT;
ALTER TABLE observed_sessions ADD COLUMN open_calls TEXT;
