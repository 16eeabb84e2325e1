-- Version 7: a hash says which one it is ("blake3:" and digits); those of before are SHA-256.
ALTER TABLE fetch_run RENAME COLUMN sha256 TO hash;
UPDATE fetch_run SET hash = 'sha256:' || hash WHERE hash <> '';
