-- What tells that what is read is what was written. Rows of before have none of it.

ALTER TABLE run
    ADD COLUMN checksum BYTEA,  -- of head; of finished and entries
    ADD COLUMN entries  BIGINT, -- how many it has, once it has finished
    ADD COLUMN writer   TEXT;   -- the process that measures, until it has finished

ALTER TABLE entry
    ADD COLUMN checksum BYTEA; -- of run, place and figures; of samples; of intervals

ALTER TABLE source
    ADD COLUMN checksum BYTEA; -- of hash; of text
