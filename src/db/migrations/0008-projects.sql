-- The options of projects, one row for each entry that set some; the newest row of a project applies.
CREATE TABLE project_options (
  idx     INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  salt    TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX project_options_by_project ON project_options (project, idx);
