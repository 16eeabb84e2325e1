-- Version 2: what the user makes (plans, bench results) and the reference tables that come with
-- the program and are replaced as a whole.

CREATE TABLE saved_plan(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK(name <> ''),
  plan TEXT NOT NULL,
  scenario TEXT,
  saved INTEGER NOT NULL
) STRICT;

CREATE TABLE bench_run(
  id INTEGER PRIMARY KEY,
  device TEXT NOT NULL,
  backend TEXT NOT NULL,
  is_gpu INTEGER NOT NULL CHECK(is_gpu IN (0, 1)),
  document TEXT NOT NULL,
  time INTEGER NOT NULL
) STRICT;
CREATE TABLE bench_result(
  run INTEGER NOT NULL REFERENCES bench_run ON DELETE CASCADE,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  median REAL, min REAL, p95 REAL, spread REAL,
  checked INTEGER NOT NULL CHECK(checked IN (0, 1)),
  PRIMARY KEY(run, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_profile(
  name TEXT PRIMARY KEY,
  family TEXT, task TEXT,
  parameters REAL, active_parameters REAL, layers REAL, hidden REAL, heads REAL, kv_heads REAL,
  ffn REAL, vocab REAL, seq_len REAL, image_px REAL, head_dim REAL, bytes_per_sample_in REAL,
  flops_per_sample_fwd REAL, activation_elements REAL,
  tied_embeddings INTEGER NOT NULL DEFAULT 0, source TEXT
) STRICT;

CREATE TABLE allowance(
  id INTEGER PRIMARY KEY,
  vendor TEXT NOT NULL, product TEXT NOT NULL, rule TEXT NOT NULL,
  value TEXT, unit TEXT, valid_from TEXT, source TEXT, confidence TEXT
) STRICT;

CREATE TABLE trace(
  name TEXT PRIMARY KEY,
  vendor TEXT, region TEXT, zone TEXT, instance_type TEXT,
  gap_s INTEGER, nodes_probed INTEGER, path TEXT NOT NULL
) STRICT;

-- For people with a SQL shell: the prices believed now, names instead of numbers.
CREATE VIEW price AS
SELECT o.id, p.vendor, p.region, p.zone, t.name AS instance_type, t.gpu, t.gpu_num, t.gpu_den,
       t.gpu_memory_gib, t.vcpus, t.memory_gib, u.name AS purchase,
       CASE o.payment WHEN 1 THEN 'none' WHEN 2 THEN 'partial' WHEN 3 THEN 'all' END AS payment,
       CASE o.offering_class WHEN 1 THEN 'standard' WHEN 2 THEN 'convertible' END AS offering_class,
       CASE o.price_state WHEN 0 THEN 'known' WHEN 1 THEN 'none' ELSE 'sold_otherwise' END
         AS price_state,
       o.price AS price_per_hour, o.upfront, o.price_month, o.currency, o.sku, o.note,
       s.name AS source, f.scope, f.bundled,
       datetime(o.as_of, 'unixepoch') AS as_of, datetime(o.valid_from, 'unixepoch') AS valid_from,
       datetime(o.valid_to, 'unixepoch') AS valid_to, o.sort_price
FROM offer o
JOIN place p ON p.id = o.place
JOIN instance_type t ON t.id = o.instance_type
JOIN purchase_option u ON u.id = o.purchase
JOIN feed f ON f.id = o.feed
JOIN source s ON s.id = f.source
WHERE o.known_to IS NULL;
