-- Many versions at a time: what was done for each change is done once for all the changes of
-- a statement.

-- ---- channel vigil_changes ----

CREATE FUNCTION vigil_kb.change_json(id bigint, sentinel text, at timestamptz, url text,
    old_version bigint, new_version bigint, inserted bigint, deleted bigint, updated bigint,
    moved bigint, summary text) RETURNS text LANGUAGE sql STABLE
    AS $$ SELECT json_build_object('id', id, 'sentinel', sentinel,
        'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'url', url,
        'old_version', old_version, 'new_version', new_version, 'inserted', inserted,
        'deleted', deleted, 'updated', updated, 'moved', moved, 'summary', summary)::text $$;
COMMENT ON FUNCTION vigil_kb.change_json(bigint, text, timestamptz, text, bigint, bigint, bigint,
    bigint, bigint, bigint, text) IS 'A change as channel vigil_changes tells it';

-- PostgreSQL refuses a payload of 8000 bytes: a long summary or URL is cut, and says so by its
-- dots.
CREATE FUNCTION vigil_kb.short_change_json(id bigint) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    c record;
    payload text;
BEGIN
    SELECT h.*, s.name, p.url INTO STRICT c FROM vigil_kb.change h
      JOIN vigil_kb.sentinel s ON s.id = h.sentinel_id
      JOIN vigil_kb.page p ON p.id = h.page_id WHERE h.id = $1;
    LOOP
        payload := vigil_kb.change_json(c.id, c.name, c.at, c.url, c.old_version, c.new_version,
            c.inserted, c.deleted, c.updated, c.moved, c.summary);
        IF octet_length(payload) < 7900 THEN
            RETURN payload;
        ELSIF length(c.summary) >= length(c.url) THEN
            c.summary := left(c.summary, length(c.summary) / 2) || '...';
        ELSE
            c.url := left(c.url, length(c.url) / 2) || '...';
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION vigil_kb.short_change_json(bigint) IS
    'The same of a stored change, no longer than a payload may be';

CREATE FUNCTION vigil_kb.announce_changes() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM pg_notify('vigil_changes', CASE WHEN octet_length(a.payload) < 7900 THEN a.payload
            ELSE vigil_kb.short_change_json(a.id) END)
       FROM (SELECT c.id, vigil_kb.change_json(c.id, s.name, c.at, p.url, c.old_version,
                    c.new_version, c.inserted, c.deleted, c.updated, c.moved, c.summary) AS payload
               FROM fresh c
               JOIN vigil_kb.sentinel s ON s.id = c.sentinel_id
               JOIN vigil_kb.page p ON p.id = c.page_id
              ORDER BY c.id) a;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION vigil_kb.announce_changes() IS 'Tells channel vigil_changes of the changes of a statement';

DROP TRIGGER announce ON vigil_kb.change;
DROP FUNCTION vigil_kb.announce_change();
CREATE TRIGGER announce AFTER INSERT ON vigil_kb.change
    REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION vigil_kb.announce_changes();

-- ---- what is owed ----

-- As vigil_kb.owe, which is now this with one instant for all: `ats` has one for each.
CREATE FUNCTION vigil_kb.owe(sentinels bigint[], changes bigint[], ticks bigint[], words text[],
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
        UPDATE vigil_kb.lane l SET next_at = due.first FROM due
         WHERE l.id = due.lane_id AND l.attempts = 0
           AND (l.next_at IS NULL OR l.next_at > due.first))
    SELECT EXISTS (SELECT FROM due) INTO waiting;
    IF waiting THEN
        PERFORM pg_notify('vigil_outbox', '');
    END IF;
END
$$;
COMMENT ON FUNCTION vigil_kb.owe(bigint[], bigint[], bigint[], text[], text, timestamptz[]) IS
    'The one place where a notification becomes owed';

CREATE OR REPLACE FUNCTION vigil_kb.owe(sentinels bigint[], changes bigint[], ticks bigint[],
    words text[], kind text, at timestamptz) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM vigil_kb.owe(sentinels, changes, ticks, words, kind,
        array_fill(at, ARRAY[cardinality(sentinels)]));
END
$$;
