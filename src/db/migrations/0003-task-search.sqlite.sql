-- The words of title and description, as the program cuts them. The index keeps no copy of the text.
CREATE VIRTUAL TABLE task_search USING fts5 (
  words,
  content = '',
  contentless_delete = 1,
  tokenize = 'ascii'
);
