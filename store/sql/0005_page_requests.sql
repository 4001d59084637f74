-- A page is a whole request, not only its URL: what is asked beyond a plain GET is a text of
-- the engine's, without the values of secrets.  The key is the hash of both; for a plain GET,
-- where the text is empty, it stays the hash of the URL.
ALTER TABLE vigil_kb.page ADD COLUMN request text NOT NULL DEFAULT '';

-- Hosts whose validators stayed the same while a page changed: not believed for a while.
CREATE TABLE vigil_kb.host (
    name text PRIMARY KEY,
    distrusted_until timestamptz NOT NULL
);

CREATE OR REPLACE VIEW vigil.versions AS
SELECT p.url,
       v.version,
       v.fetched_at,
       encode(v.last_modified, 'escape') AS last_modified,
       encode(v.etag, 'escape') AS etag,
       b.bytes AS size,
       encode(v.body_sha256, 'hex') AS digest,
       p.request
  FROM vigil_kb.version v
  JOIN vigil_kb.page p ON p.id = v.page_id
  JOIN vigil_kb.body b ON b.sha256 = v.body_sha256;
COMMENT ON COLUMN vigil.versions.request IS 'What is asked beyond a plain GET of the URL, by WITH (..); empty: nothing';
