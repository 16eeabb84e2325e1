-- Version 1: prices and facts. Every price row has two intervals: valid_* is when the price holds
-- (the vendor's dates), known_* is when this database believed it, so that "prices known at T" can
-- be asked later. Rows are never deleted by a fetch; a changed or vanished row gets known_to.
-- Money is canonical decimal TEXT (the truth); sort_price REAL serves ORDER BY only.
-- Instants are seconds since 1970 UTC; NULL = open or unknown.

CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE source(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK(name <> ''),
  title TEXT,
  url TEXT,
  licence TEXT,
  as_of INTEGER
) STRICT;

-- One replaceable part of a source. A bundled feed is never compared with a fetched one.
CREATE TABLE feed(
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source,
  scope TEXT NOT NULL,
  bundled INTEGER NOT NULL CHECK(bundled IN (0, 1)),
  UNIQUE(source, scope, bundled)
) STRICT;

CREATE TABLE fetch_run(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  origin INTEGER NOT NULL CHECK(origin BETWEEN 0 AND 2),
  state TEXT NOT NULL CHECK(state IN ('published', 'unchanged', 'failed', 'quarantined')),
  why TEXT,
  url TEXT,
  sha256 TEXT,
  bytes INTEGER NOT NULL DEFAULT 0,
  etag TEXT,
  last_modified TEXT,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  as_of INTEGER,               -- common date of all rows of the run, NULL when they differ
  rows INTEGER NOT NULL DEFAULT 0,
  added INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0,
  closed INTEGER NOT NULL DEFAULT 0,
  same INTEGER NOT NULL DEFAULT 0,
  repeated INTEGER NOT NULL DEFAULT 0 -- rows left out because their key came before
) STRICT;
CREATE INDEX fetch_run_feed ON fetch_run(feed, id);

CREATE TABLE purchase_option(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO purchase_option VALUES
  (0, 'on_demand'), (1, 'spot'), (2, 'low_priority'), (3, 'monthly'),
  (4, 'reserved_1y'), (5, 'reserved_3y'), (6, 'savings_plan_1y'), (7, 'savings_plan_3y'),
  (8, 'committed_use_1y'), (9, 'committed_use_3y'), (10, 'capacity_block'), (11, 'dev_test');

CREATE TABLE place(
  id INTEGER PRIMARY KEY,
  vendor TEXT NOT NULL CHECK(vendor <> ''),
  region TEXT NOT NULL,
  zone TEXT NOT NULL,
  UNIQUE(vendor, region, zone)
) STRICT;

CREATE TABLE gpu_model(
  model TEXT PRIMARY KEY,
  maker TEXT, arch TEXT, form TEXT, compute_capability REAL, launch_year INTEGER,
  fp64_tflops REAL, fp32_tflops REAL, tf32_tflops REAL, fp16_tflops REAL, bf16_tflops REAL,
  fp8_tflops REAL, int8_tops REAL, mem_gb REAL, bandwidth_gbs REAL, l2_mb REAL, nvlink_gbs REAL,
  pcie TEXT, tdp_w REAL, mig_slices INTEGER, note TEXT, source TEXT
) STRICT;
CREATE TABLE gpu_alias(
  alias TEXT NOT NULL,
  model TEXT NOT NULL REFERENCES gpu_model,
  memory_gib REAL,             -- NULL: any memory
  UNIQUE(alias, memory_gib)
) STRICT;

CREATE TABLE instance_type(
  id INTEGER PRIMARY KEY,
  vendor TEXT NOT NULL CHECK(vendor <> ''),
  name TEXT NOT NULL CHECK(name <> ''),
  gpu TEXT,
  gpu_num INTEGER NOT NULL DEFAULT 0 CHECK(gpu_num >= 0),
  gpu_den INTEGER NOT NULL DEFAULT 1 CHECK(gpu_den >= 1),
  gpu_memory_gib REAL, vcpus REAL, memory_gib REAL, local_nvme_gb REAL, network_gbps REAL,
  disk_mbps REAL, nvlink TEXT, source TEXT,
  bundled INTEGER NOT NULL DEFAULT 0 CHECK(bundled IN (0, 1)), -- own table: a feed only fills gaps
  UNIQUE(vendor, name)
) STRICT;

-- period: 0 for a price without an end, else the valid_from of a dated one, so that a list may
-- hold the past and the future of one key.
CREATE TABLE offer(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  place INTEGER NOT NULL REFERENCES place,
  instance_type INTEGER NOT NULL REFERENCES instance_type,
  purchase INTEGER NOT NULL REFERENCES purchase_option,
  payment INTEGER NOT NULL CHECK(payment BETWEEN 0 AND 3),
  offering_class INTEGER NOT NULL CHECK(offering_class BETWEEN 0 AND 2),
  period INTEGER NOT NULL,
  price_state INTEGER NOT NULL CHECK(price_state BETWEEN 0 AND 2),
  price TEXT, upfront TEXT, price_month TEXT,
  sort_price REAL,
  currency TEXT NOT NULL CHECK(length(currency) = 3),
  sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER,
  known_from INTEGER NOT NULL, known_to INTEGER,
  CHECK(price_state <> 0 OR price IS NOT NULL OR price_month IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX offer_open
  ON offer(feed, place, instance_type, purchase, payment, offering_class, period)
  WHERE known_to IS NULL;
CREATE INDEX offer_history ON offer(instance_type, place);

CREATE TABLE storage_rate(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  place INTEGER NOT NULL REFERENCES place,
  tier TEXT NOT NULL, component TEXT NOT NULL, from_qty TEXT NOT NULL, period INTEGER NOT NULL,
  unit TEXT NOT NULL, unit_qty INTEGER NOT NULL CHECK(unit_qty >= 1), to_qty TEXT,
  rate TEXT NOT NULL, sort_price REAL,
  currency TEXT NOT NULL CHECK(length(currency) = 3),
  sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER,
  known_from INTEGER NOT NULL, known_to INTEGER
) STRICT;
CREATE UNIQUE INDEX storage_rate_open
  ON storage_rate(feed, place, tier, component, from_qty, period) WHERE known_to IS NULL;

CREATE TABLE transfer_rate(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  place INTEGER NOT NULL REFERENCES place,
  destination TEXT NOT NULL, from_gb TEXT NOT NULL, period INTEGER NOT NULL,
  to_gb TEXT, gb_bytes INTEGER NOT NULL CHECK(gb_bytes > 0),
  rate TEXT NOT NULL, sort_price REAL,
  currency TEXT NOT NULL CHECK(length(currency) = 3),
  sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER,
  known_from INTEGER NOT NULL, known_to INTEGER
) STRICT;
CREATE UNIQUE INDEX transfer_rate_open
  ON transfer_rate(feed, place, destination, from_gb, period) WHERE known_to IS NULL;

CREATE TABLE interruption(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  place INTEGER NOT NULL REFERENCES place,
  instance_type INTEGER NOT NULL REFERENCES instance_type,
  band_lo_pct REAL NOT NULL, band_hi_pct REAL, savings_pct REAL,
  as_of INTEGER,
  known_from INTEGER NOT NULL, known_to INTEGER
) STRICT;
CREATE UNIQUE INDEX interruption_open
  ON interruption(feed, place, instance_type) WHERE known_to IS NULL;

-- A day's rate stays true for that day: a later fetch without it closes nothing.
CREATE TABLE fx(
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feed,
  currency TEXT NOT NULL CHECK(length(currency) = 3),
  date INTEGER NOT NULL,
  per_usd TEXT NOT NULL,
  as_of INTEGER,
  known_from INTEGER NOT NULL, known_to INTEGER
) STRICT;
CREATE UNIQUE INDEX fx_open ON fx(feed, currency, date) WHERE known_to IS NULL;

-- Price and availability of spot pools, changes only.
CREATE TABLE spot_point(
  instance_type INTEGER NOT NULL REFERENCES instance_type,
  place INTEGER NOT NULL REFERENCES place,
  time INTEGER NOT NULL,
  price TEXT, currency TEXT, available INTEGER,
  feed INTEGER NOT NULL REFERENCES feed,
  PRIMARY KEY(instance_type, place, time)
) STRICT, WITHOUT ROWID;
