-- Whoever owes something in a lane holds the lane until that is committed.
--
-- The outbox lets go of a lane with the instant its next message is due, as far as it sees
-- any.  What somebody has written and not yet committed it does not see; so the two must
-- never be at one lane at the same time.  An update of a lane that is due already changes
-- nothing in it, but it holds it, and looks at it again if it was let go of meanwhile.

CREATE OR REPLACE FUNCTION vigil_kb.owe(sentinels bigint[], changes bigint[], ticks bigint[], words text[],
    kind text, ats timestamptz[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    waiting boolean;
BEGIN
    WITH fresh AS (
        INSERT INTO vigil_kb.notification (change_id, sentinel_id, kind, at, words, method, target,
            lane_id, state, attempts, next_try_at, sent_at)
        SELECT nullif(u.change, 0), u.sentinel, owe.kind, u.at, u.words, t.method, t.target,
            t.lane_id,
            CASE WHEN t.lane_id IS NULL THEN 'sent' ELSE 'pending' END,
            CASE WHEN t.lane_id IS NULL THEN 1 ELSE 0 END,
            CASE WHEN t.lane_id IS NULL THEN NULL
                 WHEN owe.kind <> 'change' OR s.state = 'ended' THEN u.at
                 ELSE greatest(u.at, vigil_kb.period_end(s.started_at, g.every_ms,
                     vigil_kb.ts(u.tick))) END,
            CASE WHEN t.lane_id IS NULL THEN u.at END
          FROM unnest(owe.sentinels, owe.changes, owe.ticks, owe.words, owe.ats) WITH ORDINALITY
                AS u(sentinel, change, tick, words, at, place)
          JOIN vigil_kb.tell t ON t.sentinel_id = u.sentinel
          JOIN vigil_kb.sentinel s ON s.id = u.sentinel
          LEFT JOIN vigil_kb.telling g ON g.sentinel_id = u.sentinel
         WHERE owe.kind = 'change' OR t.method NOT IN ('dashboard', 'interactive')
         ORDER BY u.place, t.place
        ON CONFLICT DO NOTHING
        RETURNING lane_id, next_try_at),
    due AS (
        SELECT lane_id, min(next_try_at) AS first FROM fresh
         WHERE lane_id IS NOT NULL GROUP BY lane_id ORDER BY lane_id),
    touched AS (
        UPDATE vigil_kb.lane l
           SET next_at = CASE WHEN l.attempts = 0 THEN least(l.next_at, due.first) ELSE l.next_at END
          FROM due WHERE l.id = due.lane_id)
    SELECT EXISTS (SELECT FROM due) INTO waiting;
    IF waiting THEN
        PERFORM pg_notify('vigil_outbox', '');
    END IF;
END
$$;

-- The same when what is owed is due earlier than it was.
CREATE OR REPLACE FUNCTION vigil_kb.sentinel_ended() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ended timestamptz := coalesce(NEW.ended_at, OLD.ends_at, NEW.installed_at);
BEGIN
    PERFORM FROM vigil_kb.lane l
      WHERE l.id IN (SELECT t.lane_id FROM vigil_kb.tell t WHERE t.sentinel_id = NEW.id)
      ORDER BY l.id FOR NO KEY UPDATE;
    -- What was collected for a period that will not be completed goes now.
    UPDATE vigil_kb.notification n SET next_try_at = ended
     WHERE n.sentinel_id = NEW.id AND n.state = 'pending' AND n.next_try_at > ended;
    UPDATE vigil_kb.lane l SET next_at = ended
     WHERE l.id IN (SELECT t.lane_id FROM vigil_kb.tell t WHERE t.sentinel_id = NEW.id)
       AND l.attempts = 0 AND l.next_at > ended;
    PERFORM pg_notify('vigil_outbox', '');
    IF coalesce(NEW.end_reason, '') <> 'stopped' THEN
        PERFORM vigil_kb.owe(ARRAY[NEW.id], '{0}'::bigint[], '{0}'::bigint[], ARRAY[NEW.end_reason],
            CASE WHEN NEW.started_at IS NULL THEN 'never started' ELSE 'ended' END, ended);
    END IF;
    RETURN NULL;
END
$$;
