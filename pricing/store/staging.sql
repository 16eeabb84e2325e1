-- A staging database: one run's rows with its own numbers for feeds, places and types. It has no
-- index; publishing maps the numbers and merges in key order.
CREATE TABLE feed(id INTEGER PRIMARY KEY, source TEXT NOT NULL, scope TEXT NOT NULL);
CREATE TABLE place(
  id INTEGER PRIMARY KEY, vendor TEXT NOT NULL, region TEXT NOT NULL, zone TEXT NOT NULL);
CREATE TABLE instance_type(
  id INTEGER PRIMARY KEY, vendor TEXT NOT NULL, name TEXT NOT NULL,
  gpu TEXT, gpu_num INTEGER, gpu_den INTEGER, gpu_memory_gib REAL, vcpus REAL, memory_gib REAL,
  local_nvme_gb REAL, network_gbps REAL);
CREATE TABLE offer(
  feed INTEGER, place INTEGER, instance_type INTEGER, purchase INTEGER, payment INTEGER,
  offering_class INTEGER, period INTEGER, price_state INTEGER, price TEXT, upfront TEXT,
  price_month TEXT, sort_price REAL, currency TEXT, sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER);
CREATE TABLE storage_rate(
  feed INTEGER, place INTEGER, tier TEXT, component TEXT, from_qty TEXT, period INTEGER, unit TEXT,
  unit_qty INTEGER, to_qty TEXT, rate TEXT, sort_price REAL, currency TEXT, sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER);
CREATE TABLE transfer_rate(
  feed INTEGER, place INTEGER, destination TEXT, from_gb TEXT, period INTEGER, to_gb TEXT,
  gb_bytes INTEGER, rate TEXT, sort_price REAL, currency TEXT, sku TEXT, note TEXT,
  valid_from INTEGER, valid_to INTEGER, as_of INTEGER);
CREATE TABLE interruption(
  feed INTEGER, place INTEGER, instance_type INTEGER, band_lo_pct REAL, band_hi_pct REAL,
  savings_pct REAL, as_of INTEGER);
CREATE TABLE fx(feed INTEGER, currency TEXT, date INTEGER, per_usd TEXT, as_of INTEGER);
CREATE TABLE spot_point(
  feed INTEGER, instance_type INTEGER, place INTEGER, time INTEGER, price TEXT, currency TEXT,
  available INTEGER);
