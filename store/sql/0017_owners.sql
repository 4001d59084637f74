-- Who is a login of its own, for less.
--
-- The text of a function in SQL that sets something is parsed and planned anew in every query
-- that calls it; one in PL/pgSQL keeps its plan for the session.  Every commit with a change asks.

CREATE OR REPLACE FUNCTION vigil_kb.manages(who name) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_roles r WHERE pg_has_role(who, r.oid, 'MEMBER')
        AND (r.rolname = 'vigil_engine' OR r.oid = (SELECT nspowner FROM pg_namespace
            WHERE nspname = 'vigil_kb')));
END
$$;

CREATE OR REPLACE FUNCTION vigil_kb.is_private(owner text) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_roles r
        WHERE r.rolname = owner::name AND NOT vigil_kb.manages(r.rolname));
END
$$;
