CREATE TABLE run (
    id       TEXT PRIMARY KEY NOT NULL,
    started  REAL,             -- seconds since 1970 (UTC)
    finished INTEGER NOT NULL, -- 0 while it runs, or if it was killed
    head     TEXT NOT NULL,    -- its document without benchmarks, tags and sources, as JSON
    checksum BLOB NOT NULL,    -- of head; of finished and entries
    entries  INTEGER,          -- how many it has, once it has finished
    writer   TEXT,             -- the process that measures, until it has finished
    fleet    TEXT              -- the name of the fleet that it belongs to
);

CREATE INDEX run_fleet ON run (fleet);

CREATE TABLE tag (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    UNIQUE (run, tag)
);

CREATE TABLE entry (
    run        TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL, -- from 0
    name       TEXT NOT NULL,
    parameters TEXT NOT NULL,    -- as JSON
    valid      INTEGER NOT NULL,
    figures    TEXT NOT NULL,    -- its document without samples, batches and sizing, as JSON
    samples    BLOB NOT NULL,    -- 64-bit floating-point numbers, the lowest byte first
    batches  BLOB NOT NULL,    -- columns of batches, and sizing: the length in 4 bytes, then JSON as an LZ4 block
    checksum   BLOB NOT NULL,    -- of run, place and figures; of samples; of batches
    PRIMARY KEY (run, place)
);

-- A list of runs is read without any entry's document.
CREATE INDEX entry_names ON entry (run, name, valid);

-- A text is kept once, however many runs were made of it.
CREATE TABLE source (
    id       INTEGER PRIMARY KEY,
    hash     TEXT NOT NULL,
    text     TEXT NOT NULL,
    checksum BLOB NOT NULL -- of hash; of text
);

CREATE INDEX source_hash ON source (hash);

CREATE TABLE run_source (
    run    TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    source INTEGER NOT NULL REFERENCES source (id),
    UNIQUE (run, source)
);

CREATE INDEX run_source_source ON run_source (source);
