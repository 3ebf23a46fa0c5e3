-- Set if the entry is a report about a whole session of a client: its coverage, or the tokens that it used.
ALTER TABLE observations ADD COLUMN report_session TEXT;
CREATE INDEX observations_by_report ON observations (report_session, idx) WHERE report_session IS NOT NULL;
