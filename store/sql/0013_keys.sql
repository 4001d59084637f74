-- Versions that cost little from the start: what is new of a version is written, not all of it.
--
-- A key is a version whose body and digest are whole.  The versions after it are kept as what
-- differs from it, in one step, until that grows; then another one becomes the key.
--
-- A body that may be a base when it is written has a height of 1 from the start, so the height
-- still bounds every chain (0008) when such a body becomes a delta itself.
--
-- The digest of a key stands apart from its version, which may be released before the versions
-- that differ from it.
CREATE TABLE vigil_kb.key (
    page_id bigint NOT NULL REFERENCES vigil_kb.page ON DELETE CASCADE,
    version bigint NOT NULL,
    digest_zstd bytea NOT NULL,
    PRIMARY KEY (page_id, version)
) WITH (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE vigil_kb.key ALTER COLUMN digest_zstd SET STORAGE EXTERNAL;

-- digest_zstd is whole (digest_base is null), or what differs from the digest of this key; it is
-- empty when nothing does.
ALTER TABLE vigil_kb.version ADD COLUMN digest_base bigint;
CREATE INDEX version_key ON vigil_kb.version (page_id, version) WHERE digest_base = version;

CREATE OR REPLACE VIEW vigil.pages AS
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
       (k.stored_bytes + (SELECT coalesce(sum(octet_length(y.digest_zstd)), 0)
                            FROM vigil_kb.key y WHERE y.page_id = p.id))::bigint AS stored_bytes
  FROM vigil_kb.page p
  JOIN vigil_kb.page_state g ON g.page_id = p.id
 CROSS JOIN LATERAL (SELECT count(*) AS versions, coalesce(sum(b.bytes), 0)::bigint AS bytes,
            coalesce(sum(octet_length(b.zstd) + coalesce(octet_length(v.digest_zstd), 0)), 0)::bigint
                AS stored_bytes
       FROM vigil_kb.version v JOIN vigil_kb.body b ON b.sha256 = v.body_sha256
      WHERE v.page_id = p.id) k;
