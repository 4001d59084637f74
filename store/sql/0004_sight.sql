-- What a sentinel has seen of the pages it watches, beyond the newest version: the versions it
-- will still compare with, and what its questions remember from pair to pair.
--
-- Place 0 is the page in vigil_kb.sentinel; its row is there only when there is something to
-- remember.  A row counts while its `since` is the sentinel's entered_at: whoever takes its
-- place anew begins without a memory.
CREATE TABLE vigil_kb.sight (
    sentinel_id bigint NOT NULL REFERENCES vigil_kb.sentinel ON DELETE CASCADE,
    place smallint NOT NULL,
    since timestamptz,
    seen bigint[], -- by position, the newest last; 0: counted, but not needed any more
    answers text,
    PRIMARY KEY (sentinel_id, place)
) WITH (fillfactor = 70);
