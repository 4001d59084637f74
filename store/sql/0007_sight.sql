-- What a sentinel has seen of the pages it watches, beyond the newest version: the versions it
-- will still compare with, and what its questions remember from pair to pair.
--
-- Place 0 is the page in vigil_kb.sentinel; its row is there only when there is something to
-- remember.  Further places are the other pages of a condition over several pages; their rows
-- are always there.  What a row remembers counts while its `since` is the sentinel's
-- entered_at: whoever takes its place anew begins without a memory.
CREATE TABLE vigil_kb.sight (
    sentinel_id bigint NOT NULL REFERENCES vigil_kb.sentinel ON DELETE CASCADE,
    place smallint NOT NULL,
    page_id bigint REFERENCES vigil_kb.page, -- of further places
    since timestamptz,
    seen bigint[], -- by position, the newest last; 0: counted, but not needed any more
    answers text,
    PRIMARY KEY (sentinel_id, place)
) WITH (fillfactor = 70);
CREATE INDEX sight_page ON vigil_kb.sight (page_id) WHERE page_id IS NOT NULL;

-- Changes that a condition over several pages has collected and not told yet, and the newest
-- change of a page where there must be none.
CREATE TABLE vigil_kb.constituent (
    sentinel_id bigint NOT NULL REFERENCES vigil_kb.sentinel ON DELETE CASCADE,
    since timestamptz NOT NULL,
    conjunct smallint NOT NULL,
    part smallint NOT NULL,
    forbids boolean NOT NULL,
    at timestamptz NOT NULL,
    old_version bigint NOT NULL,
    new_version bigint NOT NULL,
    inserted bigint NOT NULL,
    deleted bigint NOT NULL,
    updated bigint NOT NULL,
    moved bigint NOT NULL,
    summary text NOT NULL,
    detail json,
    PRIMARY KEY (sentinel_id, part, new_version)
);
