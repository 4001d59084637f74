-- Versions that cost little: deltas, and what may be forgotten.
--
-- A body is whole (base_sha256 is null), or a zstd frame made with another body at hand.
-- height is how many deltas stand one on the other below it: 0 when none does.  A body is
-- made a delta only of one that is whole at that moment, and no delta ever becomes a base; so
-- heights grow along a chain, no chain is a ring, and the height bounds the chain.
ALTER TABLE vigil_kb.body
    ADD COLUMN base_sha256 bytea REFERENCES vigil_kb.body,
    ADD COLUMN height smallint NOT NULL DEFAULT 0,
    ADD COLUMN packed boolean NOT NULL DEFAULT false;
CREATE INDEX body_base ON vigil_kb.body (base_sha256) WHERE base_sha256 IS NOT NULL;

-- What was replaced by a delta is room for the next versions, if it is found soon.
ALTER TABLE vigil_kb.body SET (autovacuum_vacuum_scale_factor = 0.05,
    toast.autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE vigil_kb.version SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05,
    toast.autovacuum_vacuum_scale_factor = 0.05);

-- A commit may touch every sentinel of a page, and all of them stand side by side: there is
-- room for a second copy of each row, so that an update finds it where the row is.
ALTER TABLE vigil_kb.sentinel_state SET (fillfactor = 45);
ALTER TABLE vigil_kb.page_state SET (fillfactor = 45);

-- CHANGEHISTORY: the versions of so many newest changes of a sentinel are kept.
ALTER TABLE vigil_kb.sentinel
    ADD COLUMN change_history integer NOT NULL DEFAULT 10 CHECK (change_history >= 0);

-- The versions somebody still compares with.  A page's newest is always one of them, and so
-- is the one before: whoever arrives just now may have begun with it.
CREATE VIEW vigil_kb.need AS
SELECT page_id, latest_version AS version FROM vigil_kb.page_state
UNION ALL
SELECT page_id, latest_version - 1 FROM vigil_kb.page_state
UNION ALL
SELECT s.page_id, t.last_version
  FROM vigil_kb.sentinel s JOIN vigil_kb.sentinel_state t ON t.sentinel_id = s.id
 WHERE s.state <> 'ended'
UNION ALL
SELECT page_id, base_version FROM vigil_kb.sentinel WHERE state <> 'ended'
UNION ALL
SELECT s.page_id, unnest(g.seen)
  FROM vigil_kb.sight g JOIN vigil_kb.sentinel s ON s.id = g.sentinel_id
 WHERE g.place = 0 AND s.state <> 'ended'
UNION ALL
SELECT g.page_id, unnest(g.seen)
  FROM vigil_kb.sight g JOIN vigil_kb.sentinel s ON s.id = g.sentinel_id
 WHERE g.place > 0 AND s.state <> 'ended';

-- The versions CHANGEHISTORY speaks of, on each of a sentinel's pages.
CREATE VIEW vigil_kb.history AS
SELECT w.page_id, x.version
  FROM (SELECT id, page_id, change_history FROM vigil_kb.sentinel
        UNION ALL
        SELECT s.id, g.page_id, s.change_history FROM vigil_kb.sentinel s
          JOIN vigil_kb.sight g ON g.sentinel_id = s.id AND g.place > 0) w
 CROSS JOIN LATERAL (SELECT c.old_version, c.new_version FROM vigil_kb.change c
        WHERE c.sentinel_id = w.id AND c.page_id = w.page_id
        ORDER BY c.id DESC LIMIT w.change_history) c
 CROSS JOIN LATERAL (VALUES (c.old_version), (c.new_version)) AS x(version);
