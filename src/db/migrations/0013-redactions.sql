-- What people have redacted, one row for each entry that says so: the entry whose content is gone, and why.
CREATE TABLE redactions (
  idx     INTEGER PRIMARY KEY,
  redacts BIGINT NOT NULL,
  salt    TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE UNIQUE INDEX redactions_by_entry ON redactions (redacts);
