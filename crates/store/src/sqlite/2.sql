-- What tells that what is read is what was written. Rows of before have none of it.

ALTER TABLE run ADD COLUMN checksum BLOB;   -- of head; of finished and entries
ALTER TABLE run ADD COLUMN entries INTEGER; -- how many it has, once it has finished
ALTER TABLE run ADD COLUMN writer TEXT;     -- the process that measures, until it has finished
ALTER TABLE entry ADD COLUMN checksum BLOB; -- of run, place and figures; of samples; of intervals
ALTER TABLE source ADD COLUMN checksum BLOB; -- of hash; of text
