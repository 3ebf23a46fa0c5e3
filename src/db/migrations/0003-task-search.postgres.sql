-- The words of title and description, as the program cuts them. The index finds which tasks have all of the words;
-- whether they stand next to each other is seen in the text.
CREATE TABLE task_search (
  task_no BIGINT PRIMARY KEY,
  words   TEXT COLLATE "C" NOT NULL,
  lexemes TSVECTOR NOT NULL GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED
);
CREATE INDEX task_search_lexemes ON task_search USING gin (lexemes) WITH (fastupdate = off);
