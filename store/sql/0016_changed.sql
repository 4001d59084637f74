-- What every changed page passes, for less.

-- Instants by way of floating point, which is some five times as fast as decimals.  Both give the same: the
-- double nearest to so many thousandths of a second.
CREATE OR REPLACE FUNCTION vigil_kb.ts(ms bigint) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT to_timestamp(ms::float8 / 1000) $$;

-- Whether an owner is a login of its own is found out once for each owner, not for each change, and the
-- sentinels of the changes are looked up once.
CREATE OR REPLACE FUNCTION vigil_kb.announce_changes() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM pg_notify('vigil_changes', CASE
            WHEN a.is_private THEN json_build_object('id', a.id)::text
            WHEN octet_length(a.payload) < 7900 THEN a.payload
            ELSE vigil_kb.short_change_json(a.id) END)
       FROM (WITH told AS MATERIALIZED (
                SELECT c.*, s.name, s.owner, p.url FROM fresh c
                  JOIN vigil_kb.sentinel s ON s.id = c.sentinel_id
                  JOIN vigil_kb.page p ON p.id = c.page_id),
             who AS MATERIALIZED (
                SELECT w.owner, vigil_kb.is_private(w.owner) AS is_private
                  FROM (SELECT DISTINCT t.owner FROM told t) w)
             SELECT t.id, o.is_private, CASE WHEN NOT o.is_private THEN
                    vigil_kb.change_json(t.id, t.name, t.at, t.url, t.old_version, t.new_version,
                        t.inserted, t.deleted, t.updated, t.moved, t.summary) END AS payload
               FROM told t JOIN who o ON o.owner = t.owner
              ORDER BY t.id) a;
    RETURN NULL;
END
$$;
