-- Version 4: what a vendor means by a word that several GPUs answer to ("H100"). The table comes with
-- the program and is filled again from its file when a database is opened.
DROP TABLE gpu_alias;
CREATE TABLE gpu_alias(
  vendor TEXT NOT NULL,        -- '': every vendor
  alias TEXT NOT NULL,
  model TEXT NOT NULL REFERENCES gpu_model,
  memory_gib REAL,             -- of one GPU, tells variants apart; NULL: any
  UNIQUE(vendor, alias, memory_gib)
) STRICT;
