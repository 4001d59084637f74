-- The status of a sentinel that watches several pages, and of one that is told by messages.
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
       greatest(t.last_notified_at, (SELECT max(l.last_sent_at) FROM vigil_kb.lane l
                                      WHERE l.sentinel_id = s.id)) AS last_notified_at,
       CASE WHEN s.state = 'active' THEN g.next_fetch_at END AS next_fetch_at,
       t.evaluations,
       t.changes,
       t.notifications,
       CASE WHEN coalesce(g.error, m.error) IS NULL THEN t.last_result ELSE 'not computed' END AS last_result,
       coalesce(g.error, m.error, t.reason) AS error,
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
  LEFT JOIN vigil_kb.page_state g ON g.page_id = s.page_id
  LEFT JOIN LATERAL (SELECT min(o.url || ': ' || h.error) AS error
                       FROM vigil_kb.sight x
                       JOIN vigil_kb.page o ON o.id = x.page_id
                       JOIN vigil_kb.page_state h ON h.page_id = x.page_id
                      WHERE x.sentinel_id = s.id AND x.place > 0 AND h.error IS NOT NULL) m ON true;

COMMENT ON COLUMN vigil.status.url IS 'The page it watches; the first of several, the definition has them all';
