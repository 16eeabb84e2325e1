-- Version 5: which fields the last list of a feed had, a bit each (quarantine.c), so that a list that
-- loses one is seen. NULL: not known yet.
ALTER TABLE feed ADD COLUMN fields INTEGER;
