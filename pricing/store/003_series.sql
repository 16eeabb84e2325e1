-- Version 3: series that are watched. Points are changes; what lies between two of them is known
-- only while somebody looked, so the times of looking are kept beside them. Each source has a
-- series of its own of a pool: two of them average and round differently.
CREATE TABLE spot_series(
  instance_type INTEGER NOT NULL REFERENCES instance_type,
  place INTEGER NOT NULL REFERENCES place,
  source INTEGER NOT NULL REFERENCES source,
  time INTEGER NOT NULL,
  until INTEGER NOT NULL CHECK(until >= time), -- of a dated history: the same was stated until then
  price TEXT, currency TEXT, available INTEGER,
  PRIMARY KEY(instance_type, place, source, time)
) STRICT, WITHOUT ROWID;
INSERT INTO spot_series SELECT x.instance_type, x.place, f.source, x.time, x.time, x.price,
  x.currency, x.available FROM spot_point x JOIN feed f ON f.id = x.feed;

-- Who speaks of which pool.
CREATE TABLE pool(
  instance_type INTEGER NOT NULL REFERENCES instance_type,
  place INTEGER NOT NULL REFERENCES place,
  feed INTEGER NOT NULL REFERENCES feed,
  PRIMARY KEY(instance_type, place, feed)
) STRICT, WITHOUT ROWID;
CREATE INDEX pool_feed ON pool(feed);
INSERT INTO pool SELECT DISTINCT instance_type, place, feed FROM spot_point;

-- Times in which a feed was read in rounds, none of which is missing: from the first to the last
-- one. step: seconds between rounds as planned, 0 = one look, or a history that covers its time.
CREATE TABLE observed(
  feed INTEGER NOT NULL REFERENCES feed,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK(last >= first),
  step INTEGER NOT NULL CHECK(step >= 0),
  rounds INTEGER NOT NULL CHECK(rounds >= 1),
  PRIMARY KEY(feed, first)
) STRICT, WITHOUT ROWID;
INSERT INTO observed SELECT x.feed, min(x.time), max(x.time), 0, 1 FROM spot_point x
  WHERE (SELECT origin FROM fetch_run r WHERE r.feed = x.feed ORDER BY r.id DESC LIMIT 1) = 2
  GROUP BY x.feed;

DROP TABLE spot_point;
ALTER TABLE spot_series RENAME TO spot_point;

-- Types that no price names any more are removed by prune.
CREATE INDEX interruption_type ON interruption(instance_type);
