-- What a sentinel waits for, who waits for it, and whether it is late.

-- FROM and TO as written in canonical form, and whose start or end they name.  Empty in rows
-- of an older engine until this one has started.
ALTER TABLE vigil_kb.sentinel
    ADD COLUMN from_point text,
    ADD COLUMN from_of text,
    ADD COLUMN to_point text,
    ADD COLUMN to_of text;
CREATE INDEX sentinel_from_of ON vigil_kb.sentinel (lower(from_of)) WHERE from_of IS NOT NULL;
CREATE INDEX sentinel_to_of ON vigil_kb.sentinel (lower(to_of)) WHERE to_of IS NOT NULL;

ALTER TABLE vigil_kb.page_state ADD COLUMN overdue_since timestamptz;

CREATE FUNCTION vigil_kb.waiting_for(point text, of text, due timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN of IS NULL THEN point
        ELSE format('%s; %s %s', point, of, coalesce(
            (SELECT CASE
                 WHEN due IS NOT NULL THEN 'makes that ' || due::text
                 WHEN lower(point) LIKE 'end%' AND o.ends_at IS NOT NULL THEN 'ends ' || o.ends_at::text
                 WHEN lower(point) LIKE 'start%' AND o.starts_at IS NOT NULL
                     THEN 'starts ' || o.starts_at::text
                 ELSE 'does not know yet when'
             END
               FROM vigil_kb.sentinel o WHERE lower(o.name) = lower(of)), 'is gone'))
    END
$$;

CREATE OR REPLACE VIEW vigil.status AS
SELECT s.name,
       s.owner,
       s.state,
       p.url,
       s.monitor,
       s.fetch_rule AS fetch,
       s.compare,
       s.installed_at,
       s.starts_at,
       s.ends_at,
       s.started_at,
       s.ended_at,
       g.last_fetch_at,
       nullif(g.latest_version, 0) AS last_version,
       t.last_change_at,
       t.last_notified_at,
       CASE WHEN s.state = 'active' THEN g.next_fetch_at END AS next_fetch_at,
       t.evaluations,
       t.changes,
       t.notifications,
       CASE WHEN g.error IS NULL THEN t.last_result ELSE 'not computed' END AS last_result,
       coalesce(g.error, t.reason) AS error,
       s.definition,
       CASE WHEN s.state IN ('waiting', 'waiting-disabled')
            THEN vigil_kb.waiting_for(s.from_point, s.from_of, s.starts_at) END AS waiting_for,
       ARRAY(SELECT d.name FROM vigil_kb.sentinel d
              WHERE (lower(d.from_of) = lower(s.name) AND d.state IN ('waiting', 'waiting-disabled'))
                 OR (lower(d.to_of) = lower(s.name) AND d.state <> 'ended')
              ORDER BY d.id) AS dependants,
       CASE WHEN s.state = 'active' THEN g.overdue_since END AS overdue_since
  FROM vigil_kb.sentinel s
  JOIN vigil_kb.sentinel_state t ON t.sentinel_id = s.id
  LEFT JOIN vigil_kb.page p ON p.id = s.page_id
  LEFT JOIN vigil_kb.page_state g ON g.page_id = s.page_id;

COMMENT ON COLUMN vigil.status.waiting_for IS 'What a waiting sentinel waits for; empty once it has started';
COMMENT ON COLUMN vigil.status.dependants IS 'Sentinels that still wait for its start or end';
COMMENT ON COLUMN vigil.status.overdue_since IS 'Since when a fetch of its page should have happened; empty: none is overdue';
