-- What is somebody's own, also behind the views.
--
-- A condition that a user adds to a view may be a function of theirs that tells what it is
-- shown.  The planner may ask it about rows of a table before they are joined with the
-- sentinel whose owner decides, unless row security holds that table itself.  Contents
-- (vigil_kb.body) belong to nobody; of them the views show how long they are.

CREATE FUNCTION vigil_kb.hold(tables text[], condition text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY tables LOOP
        EXECUTE format('ALTER TABLE vigil_kb.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY own ON vigil_kb.%I USING ((SELECT vigil_kb.sees_all()) OR %s)'
            ' WITH CHECK ((SELECT vigil_kb.manages(current_user)))', t, condition);
    END LOOP;
END
$$;
COMMENT ON FUNCTION vigil_kb.hold(text[], text) IS
    'Lets users see the rows of these tables for which the condition holds';

SELECT vigil_kb.hold(ARRAY['sentinel_state', 'telling', 'change', 'notification'],
    'sentinel_id IN (SELECT s.id FROM vigil_kb.sentinel s)');

-- What belongs to a page is theirs who watch it.  Not by way of vigil_kb.page: so the list of
-- one's pages is made once a query, and not at all for those who see everything.
SELECT vigil_kb.hold(ARRAY['page_state', 'version'], 'page_id IN (SELECT s.page_id FROM vigil_kb.sentinel s'
    ' UNION ALL SELECT g.page_id FROM vigil_kb.sight g JOIN vigil_kb.sentinel s ON s.id = g.sentinel_id)');
SELECT vigil_kb.hold(ARRAY['lane', 'told'], 'owner = session_user');

-- ---- channel vigil_changes ----

-- Whoever may connect may listen.  So of what belongs to a user the channel tells no more than
-- that there is something: the number, with which those who may read it in vigil.changes.
CREATE FUNCTION vigil_kb.is_private(owner text) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (SELECT FROM pg_roles r
        WHERE r.rolname = owner::name AND NOT vigil_kb.manages(r.rolname)) $$;
COMMENT ON FUNCTION vigil_kb.is_private(text) IS
    'Whether sentinels of this name are a login''s own, and not for everybody';

CREATE OR REPLACE FUNCTION vigil_kb.announce_changes() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM pg_notify('vigil_changes', CASE
            WHEN a.is_private THEN json_build_object('id', a.id)::text
            WHEN octet_length(a.payload) < 7900 THEN a.payload
            ELSE vigil_kb.short_change_json(a.id) END)
       FROM (SELECT c.id, o.is_private, CASE WHEN NOT o.is_private THEN
                    vigil_kb.change_json(c.id, s.name, c.at, p.url, c.old_version, c.new_version,
                        c.inserted, c.deleted, c.updated, c.moved, c.summary) END AS payload
               FROM fresh c
               JOIN vigil_kb.sentinel s ON s.id = c.sentinel_id
               JOIN vigil_kb.page p ON p.id = c.page_id
               JOIN (SELECT w.owner, vigil_kb.is_private(w.owner) AS is_private
                       FROM (SELECT DISTINCT x.owner FROM fresh f
                               JOIN vigil_kb.sentinel x ON x.id = f.sentinel_id) w) o
                 ON o.owner = s.owner
              ORDER BY c.id) a;
    RETURN NULL;
END
$$;
