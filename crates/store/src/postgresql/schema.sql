-- The same as in a SQLite file. Names are sorted by their bytes, whatever the database's language; rowid counts rows, as SQLite does by itself.

CREATE TABLE form (
    version BIGINT NOT NULL
);

CREATE TABLE run (
    id       TEXT COLLATE "C" PRIMARY KEY,
    started  DOUBLE PRECISION, -- seconds since 1970 (UTC)
    finished BOOLEAN NOT NULL, -- false while it runs, or if it was killed
    head     TEXT NOT NULL,    -- its document without benchmarks, tags and sources, as JSON
    checksum BYTEA NOT NULL,   -- of head; of finished and entries
    entries  BIGINT,           -- how many it has, once it has finished
    writer   TEXT,             -- the process that measures, until it has finished
    rowid    BIGINT GENERATED ALWAYS AS IDENTITY,
    fleet    TEXT COLLATE "C"  -- the name of the fleet that it belongs to
);

CREATE INDEX run_fleet ON run (fleet);

CREATE TABLE tag (
    run   TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    tag   TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    UNIQUE (run, tag)
);

CREATE TABLE entry (
    run        TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place      BIGINT NOT NULL, -- from 0
    name       TEXT COLLATE "C" NOT NULL,
    parameters TEXT NOT NULL,   -- as JSON
    valid      BOOLEAN NOT NULL,
    figures    TEXT NOT NULL,   -- its document without samples, batches and sizing, as JSON
    samples    BYTEA NOT NULL,  -- 64-bit floating-point numbers, the lowest byte first
    batches  BYTEA NOT NULL,  -- columns of batches, and sizing: the length in 4 bytes, then JSON as an LZ4 block
    checksum   BYTEA NOT NULL,  -- of run, place and figures; of samples; of batches
    PRIMARY KEY (run, place)
);

-- LZ4 has packed them already.
ALTER TABLE entry ALTER COLUMN batches SET STORAGE EXTERNAL;

-- A list of runs is read without any entry's document.
CREATE INDEX entry_names ON entry (run, name, valid);

-- A text is kept once, however many runs were made of it.
CREATE TABLE source (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash     TEXT COLLATE "C" NOT NULL,
    text     TEXT NOT NULL,
    checksum BYTEA NOT NULL -- of hash; of text
);

CREATE INDEX source_hash ON source (hash);

CREATE TABLE run_source (
    run    TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    source BIGINT NOT NULL REFERENCES source (id),
    UNIQUE (run, source)
);

CREATE INDEX run_source_source ON run_source (source);
