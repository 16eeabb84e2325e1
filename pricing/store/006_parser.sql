-- Version 6: which readers made the rows of a run (parsers.c). A list that other readers made is
-- asked for without conditions: "not modified" would keep what they got wrong. NULL: older ones.
ALTER TABLE fetch_run ADD COLUMN parser TEXT;
