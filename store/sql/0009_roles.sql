-- Who may do what, for those who come with a login of their own.
--
--     vigil_engine   what an engine needs: all rows, and the tables behind the views
--     vigil_user     the views, own sentinels only, and the functions, for own sentinels only
--     vigil_reader   the views, all rows, and nothing else
--
-- None of them can log in; they are granted to those who can.  Views run with their owner's
-- rights, and neither a superuser nor the owner of a table is held by row security: so the
-- views are given to vigil_engine, which is neither.  What a policy asks about is who looks,
-- not who owns the view.

-- These are called in the name of whoever looks, who may not enter vigil_kb: so they name
-- nothing in it.
CREATE FUNCTION vigil_kb.manages(who name) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (SELECT FROM pg_roles r WHERE pg_has_role(who, r.oid, 'MEMBER')
        AND (r.rolname = 'vigil_engine' OR r.oid = (SELECT nspowner FROM pg_namespace
            WHERE nspname = 'vigil_kb'))) $$;
COMMENT ON FUNCTION vigil_kb.manages(name) IS 'Whether somebody may change other people''s sentinels';

CREATE FUNCTION vigil_kb.sees_all() RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT EXISTS (SELECT FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')
        AND (r.rolname IN ('vigil_engine', 'vigil_reader') OR r.oid = (SELECT nspowner
            FROM pg_namespace WHERE nspname = 'vigil_kb'))) $$;
COMMENT ON FUNCTION vigil_kb.sees_all() IS 'Whether whoever asks sees other people''s sentinels';

ALTER TABLE vigil_kb.sentinel ENABLE ROW LEVEL SECURITY;
ALTER TABLE vigil_kb.page ENABLE ROW LEVEL SECURITY;
ALTER TABLE vigil_kb.event ENABLE ROW LEVEL SECURITY;
ALTER TABLE vigil_kb.request ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON vigil_kb.sentinel
    USING ((SELECT vigil_kb.sees_all()) OR owner = session_user)
    WITH CHECK ((SELECT vigil_kb.manages(current_user)));
CREATE POLICY own ON vigil_kb.page
    USING ((SELECT vigil_kb.sees_all())
           OR EXISTS (SELECT FROM vigil_kb.sentinel s WHERE s.page_id = page.id)
           OR EXISTS (SELECT FROM vigil_kb.sight g JOIN vigil_kb.sentinel s
                ON s.id = g.sentinel_id WHERE g.page_id = page.id))
    WITH CHECK ((SELECT vigil_kb.manages(current_user)));
CREATE POLICY own ON vigil_kb.event
    USING ((SELECT vigil_kb.sees_all())
           OR EXISTS (SELECT FROM vigil_kb.sentinel s WHERE s.id = event.sentinel_id))
    WITH CHECK ((SELECT vigil_kb.manages(current_user)));
CREATE POLICY own ON vigil_kb.request
    USING ((SELECT vigil_kb.sees_all()) OR owner = session_user)
    WITH CHECK ((SELECT vigil_kb.manages(current_user)));

-- A request by somebody who does not manage concerns their own sentinels only; the engine
-- refuses it otherwise.  The command line asks as the owner of the database, for whomever the
-- machine says it is.
ALTER TABLE vigil_kb.request ADD COLUMN only_own boolean NOT NULL DEFAULT false;

CREATE FUNCTION vigil_kb.ask_for_self(verb text, text text) RETURNS bigint
    LANGUAGE sql STRICT SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO vigil_kb.request (verb, text, owner, only_own)
        VALUES ($1, $2, session_user, NOT vigil_kb.manages(session_user));
    SELECT pg_notify('vigil_requests', '');
    SELECT currval(pg_get_serial_sequence('vigil_kb.request', 'id'));
    $$;
COMMENT ON FUNCTION vigil_kb.ask_for_self(text, text) IS 'Leaves a request of whoever is logged in';

CREATE OR REPLACE FUNCTION vigil.create_sentinel(definition text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask_for_self('add', $1) $$;
CREATE OR REPLACE FUNCTION vigil.enable(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask_for_self('enable', $1) $$;
CREATE OR REPLACE FUNCTION vigil.disable(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask_for_self('disable', $1) $$;
CREATE OR REPLACE FUNCTION vigil.stop(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask_for_self('stop', $1) $$;
CREATE OR REPLACE FUNCTION vigil.drop_sentinel(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask_for_self('drop', $1) $$;

-- vigil.status says what a sentinel waits for, also when that is somebody else's: it looks
-- with the rights of whoever owns it.
ALTER FUNCTION vigil_kb.waiting_for(text, text, timestamptz)
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- Pages as such, for whoever runs the whole.
ALTER TABLE vigil_kb.page_state ADD COLUMN took_ms bigint;

CREATE VIEW vigil.pages AS
SELECT p.url,
       lower(split_part(split_part(p.url, '/', 3), '?', 1)) AS host,
       (SELECT count(*) FROM vigil_kb.sentinel s
         WHERE s.page_id = p.id AND s.state = 'active') AS watchers,
       nullif(g.latest_version, 0) AS last_version,
       g.last_fetch_at,
       g.next_fetch_at,
       g.last_change_at,
       g.fetches,
       g.failures,
       g.took_ms,
       g.error,
       k.versions,
       k.bytes,
       k.stored_bytes
  FROM vigil_kb.page p
  JOIN vigil_kb.page_state g ON g.page_id = p.id
 CROSS JOIN LATERAL (SELECT count(*) AS versions, coalesce(sum(b.bytes), 0)::bigint AS bytes,
            coalesce(sum(octet_length(b.zstd) + coalesce(octet_length(v.digest_zstd), 0)), 0)::bigint
                AS stored_bytes
       FROM vigil_kb.version v JOIN vigil_kb.body b ON b.sha256 = v.body_sha256
      WHERE v.page_id = p.id) k;

COMMENT ON VIEW vigil.pages IS 'Every page that is or was watched, and what it costs';
COMMENT ON COLUMN vigil.pages.url IS 'The page';
COMMENT ON COLUMN vigil.pages.host IS 'The host it is fetched from, with the port if one is named';
COMMENT ON COLUMN vigil.pages.watchers IS 'How many active sentinels watch it';
COMMENT ON COLUMN vigil.pages.last_version IS 'Number of its newest version; empty: none yet';
COMMENT ON COLUMN vigil.pages.last_fetch_at IS 'When it was last asked for, with success or not';
COMMENT ON COLUMN vigil.pages.next_fetch_at IS 'When it is due to be fetched next';
COMMENT ON COLUMN vigil.pages.last_change_at IS 'When a version after the first was last found';
COMMENT ON COLUMN vigil.pages.fetches IS 'How often it was asked for';
COMMENT ON COLUMN vigil.pages.failures IS 'How many of the newest fetches in a row failed';
COMMENT ON COLUMN vigil.pages.took_ms IS 'Milliseconds the newest fetch took, redirects included';
COMMENT ON COLUMN vigil.pages.error IS 'Why the newest fetch failed; empty: it did not';
COMMENT ON COLUMN vigil.pages.versions IS 'How many versions are kept';
COMMENT ON COLUMN vigil.pages.bytes IS 'Bytes of their contents';
COMMENT ON COLUMN vigil.pages.stored_bytes IS 'Bytes they take in the store; contents that several versions share are counted for each';

-- Run after every migration, since migrations bring views and tables.  Says what it could not
-- do, in words for whoever started the engine.
CREATE FUNCTION vigil_kb.set_up_roles() RETURNS text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    role text;
    view record;
BEGIN
    FOREACH role IN ARRAY ARRAY['vigil_engine', 'vigil_user', 'vigil_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration
                WHEN insufficient_privilege THEN
                    RETURN format('role %s could not be created: %s may not create roles', role, current_user);
            END;
        END IF;
    END LOOP;
    BEGIN
        IF NOT pg_has_role(current_user, 'vigil_engine', 'MEMBER') THEN
            EXECUTE format('GRANT vigil_engine TO %I', current_user);
        END IF;
        GRANT USAGE, CREATE ON SCHEMA vigil TO vigil_engine;
        GRANT USAGE ON SCHEMA vigil_kb TO vigil_engine;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA vigil_kb TO vigil_engine;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA vigil_kb TO vigil_engine;
        FOR view IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'vigil'::regnamespace
                       AND c.relkind = 'v' AND pg_get_userbyid(c.relowner) <> 'vigil_engine' LOOP
            EXECUTE format('ALTER VIEW vigil.%I OWNER TO vigil_engine', view.relname);
        END LOOP;
        GRANT USAGE ON SCHEMA vigil TO vigil_user, vigil_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA vigil TO vigil_user, vigil_reader;
        REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA vigil FROM PUBLIC;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA vigil TO vigil_user, vigil_engine;
    EXCEPTION WHEN insufficient_privilege THEN
        RETURN format('rights could not be given to the roles of Vigil: %s', SQLERRM);
    END;
    RETURN '';
END
$$;
COMMENT ON FUNCTION vigil_kb.set_up_roles() IS 'Makes the roles of Vigil and gives them their rights; says what it could not do';
