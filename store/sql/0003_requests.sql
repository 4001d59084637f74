-- Asking the engine by SQL, and hearing from it.
--
-- A function cannot wait for the engine: what it wrote is not visible before its own
-- transaction is over.  So it leaves a request, returns its number, and the answer is read
-- from vigil.requests (channel vigil_answers tells when).

CREATE VIEW vigil.requests AS
SELECT id, verb, text, state, exit_code, answer
  FROM vigil_kb.request;

COMMENT ON VIEW vigil.requests IS 'What the engine was asked to do, and what it answered';
COMMENT ON COLUMN vigil.requests.id IS 'What the asking function returned';
COMMENT ON COLUMN vigil.requests.verb IS 'add, enable, disable, stop or drop';
COMMENT ON COLUMN vigil.requests.text IS 'Definitions, or names of sentinels one a line';
COMMENT ON COLUMN vigil.requests.state IS 'waiting until the engine took it up, then done';
COMMENT ON COLUMN vigil.requests.exit_code IS '0 done; 1 the request was wrong and nothing was changed';
COMMENT ON COLUMN vigil.requests.answer IS 'The same words `vigil` would print';

CREATE FUNCTION vigil_kb.ask(verb text, text text, owner text) RETURNS bigint
    LANGUAGE sql STRICT
    AS $$
    INSERT INTO vigil_kb.request (verb, text, owner) VALUES ($1, $2, $3);
    SELECT pg_notify('vigil_requests', '');
    SELECT currval(pg_get_serial_sequence('vigil_kb.request', 'id'));
    $$;

CREATE FUNCTION vigil.create_sentinel(definition text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask('add', $1, session_user::text) $$;
COMMENT ON FUNCTION vigil.create_sentinel(text) IS
    'Asks the engine to install all sentinels in the text, or none; returns the number of the request';

CREATE FUNCTION vigil.enable(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask('enable', $1, session_user::text) $$;
COMMENT ON FUNCTION vigil.enable(text) IS
    'Asks the engine to enable a sentinel; returns the number of the request';

CREATE FUNCTION vigil.disable(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask('disable', $1, session_user::text) $$;
COMMENT ON FUNCTION vigil.disable(text) IS
    'Asks the engine to disable a sentinel; returns the number of the request';

CREATE FUNCTION vigil.stop(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask('stop', $1, session_user::text) $$;
COMMENT ON FUNCTION vigil.stop(text) IS
    'Asks the engine to end a sentinel now; returns the number of the request';

CREATE FUNCTION vigil.drop_sentinel(name text) RETURNS bigint
    LANGUAGE sql STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ SELECT vigil_kb.ask('drop', $1, session_user::text) $$;
COMMENT ON FUNCTION vigil.drop_sentinel(text) IS
    'Asks the engine to remove a sentinel and its history; returns the number of the request';

-- One JSON object a change on channel vigil_changes, sent by the commit itself.  PostgreSQL
-- refuses a payload of 8000 bytes, so a long summary or URL is cut, and says so by its dots.
CREATE FUNCTION vigil_kb.announce_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    who text;
    url text;
    summary text := NEW.summary;
    payload text;
BEGIN
    SELECT s.name INTO who FROM vigil_kb.sentinel s WHERE s.id = NEW.sentinel_id;
    SELECT p.url INTO url FROM vigil_kb.page p WHERE p.id = NEW.page_id;
    LOOP
        payload := json_build_object('id', NEW.id, 'sentinel', who,
            'at', to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'url', url, 'old_version', NEW.old_version, 'new_version', NEW.new_version,
            'inserted', NEW.inserted, 'deleted', NEW.deleted, 'updated', NEW.updated,
            'moved', NEW.moved, 'summary', summary);
        EXIT WHEN octet_length(payload) < 7900;
        IF length(summary) >= length(url) THEN
            summary := left(summary, length(summary) / 2) || '...';
        ELSE
            url := left(url, length(url) / 2) || '...';
        END IF;
    END LOOP;
    PERFORM pg_notify('vigil_changes', payload);
    RETURN NULL;
END
$$;

CREATE TRIGGER announce AFTER INSERT ON vigil_kb.change
    FOR EACH ROW EXECUTE FUNCTION vigil_kb.announce_change();
