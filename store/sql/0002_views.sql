-- What people query.  Names and order of these columns are a promise; they are also the
-- keys of what `--json` prints.

CREATE VIEW vigil.status AS
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
       t.last_notified_at,
       CASE WHEN s.state = 'active' THEN g.next_fetch_at END AS next_fetch_at,
       t.evaluations,
       t.changes,
       t.notifications,
       CASE WHEN g.error IS NULL THEN t.last_result ELSE 'not computed' END AS last_result,
       coalesce(g.error, t.reason) AS error,
       s.definition
  FROM vigil_kb.sentinel s
  JOIN vigil_kb.sentinel_state t ON t.sentinel_id = s.id
  LEFT JOIN vigil_kb.page p ON p.id = s.page_id
  LEFT JOIN vigil_kb.page_state g ON g.page_id = s.page_id;

COMMENT ON VIEW vigil.status IS 'Every sentinel and how it is doing';
COMMENT ON COLUMN vigil.status.name IS 'Name as it was written; upper and lower case are the same';
COMMENT ON COLUMN vigil.status.owner IS 'Who installed it';
COMMENT ON COLUMN vigil.status.state IS 'waiting, active, disabled, waiting-disabled or ended';
COMMENT ON COLUMN vigil.status.url IS 'The page it watches';
COMMENT ON COLUMN vigil.status.monitor IS 'What counts as a change';
COMMENT ON COLUMN vigil.status.fetch IS 'When the page is fetched';
COMMENT ON COLUMN vigil.status.compare IS 'Which versions are compared';
COMMENT ON COLUMN vigil.status.installed_at IS 'When it was installed';
COMMENT ON COLUMN vigil.status.starts_at IS 'When it is due to start; empty while that is not known';
COMMENT ON COLUMN vigil.status.ends_at IS 'When it is due to end; empty: not known, or never';
COMMENT ON COLUMN vigil.status.started_at IS 'When it started';
COMMENT ON COLUMN vigil.status.ended_at IS 'When it ended';
COMMENT ON COLUMN vigil.status.last_fetch_at IS 'When its page was last asked for, with success or not';
COMMENT ON COLUMN vigil.status.last_version IS 'Number of the newest stored version of its page';
COMMENT ON COLUMN vigil.status.last_change_at IS 'When it last saw a change';
COMMENT ON COLUMN vigil.status.last_notified_at IS 'When a notification of it was last delivered';
COMMENT ON COLUMN vigil.status.next_fetch_at IS 'When its page is due to be fetched next';
COMMENT ON COLUMN vigil.status.evaluations IS 'How many times versions were compared for it';
COMMENT ON COLUMN vigil.status.changes IS 'How many of these were changes';
COMMENT ON COLUMN vigil.status.notifications IS 'How many notifications were owed for them';
COMMENT ON COLUMN vigil.status.last_result IS 'changed or unchanged: the newest comparison; not computed: it could not be made, or the page fails';
COMMENT ON COLUMN vigil.status.error IS 'Why the newest fetch failed, or why the newest comparison could not be made; empty: all is well';
COMMENT ON COLUMN vigil.status.definition IS 'The sentinel in canonical form';

CREATE VIEW vigil.changes AS
SELECT c.id,
       s.name AS sentinel,
       c.at,
       p.url,
       c.old_version,
       c.new_version,
       c.inserted,
       c.deleted,
       c.updated,
       c.moved,
       c.summary,
       c.detail
  FROM vigil_kb.change c
  JOIN vigil_kb.sentinel s ON s.id = c.sentinel_id
  JOIN vigil_kb.page p ON p.id = c.page_id;

COMMENT ON VIEW vigil.changes IS 'Every change a sentinel found; a higher id was found later';
COMMENT ON COLUMN vigil.changes.id IS 'Stable number of the change';
COMMENT ON COLUMN vigil.changes.sentinel IS 'Who found it';
COMMENT ON COLUMN vigil.changes.at IS 'When the new version was fetched';
COMMENT ON COLUMN vigil.changes.url IS 'The page that changed';
COMMENT ON COLUMN vigil.changes.old_version IS 'The version compared with';
COMMENT ON COLUMN vigil.changes.new_version IS 'The version the change was found in';
COMMENT ON COLUMN vigil.changes.inserted IS 'How many things were inserted';
COMMENT ON COLUMN vigil.changes.deleted IS 'How many things were deleted';
COMMENT ON COLUMN vigil.changes.updated IS 'How many things were updated';
COMMENT ON COLUMN vigil.changes.moved IS 'How many things were moved';
COMMENT ON COLUMN vigil.changes.summary IS 'The change in one line';
COMMENT ON COLUMN vigil.changes.detail IS 'What was inserted, deleted, updated and moved for each change type';

CREATE VIEW vigil.versions AS
SELECT p.url,
       v.version,
       v.fetched_at,
       encode(v.last_modified, 'escape') AS last_modified,
       encode(v.etag, 'escape') AS etag,
       b.bytes AS size,
       encode(v.body_sha256, 'hex') AS digest
  FROM vigil_kb.version v
  JOIN vigil_kb.page p ON p.id = v.page_id
  JOIN vigil_kb.body b ON b.sha256 = v.body_sha256;

COMMENT ON VIEW vigil.versions IS 'Every stored version of every page';
COMMENT ON COLUMN vigil.versions.url IS 'The page';
COMMENT ON COLUMN vigil.versions.version IS 'Counts from 1; a new number only when the contents differ from the newest';
COMMENT ON COLUMN vigil.versions.fetched_at IS 'When it was fetched';
COMMENT ON COLUMN vigil.versions.last_modified IS 'What the server said in Last-Modified';
COMMENT ON COLUMN vigil.versions.etag IS 'What the server said in ETag';
COMMENT ON COLUMN vigil.versions.size IS 'Bytes of the decoded contents';
COMMENT ON COLUMN vigil.versions.digest IS 'SHA-256 of the decoded contents';

CREATE VIEW vigil.notifications AS
SELECT n.id,
       s.name AS sentinel,
       n.at,
       n.method,
       n.target,
       n.state,
       n.attempts,
       n.next_try_at,
       n.sent_at,
       n.error
  FROM vigil_kb.notification n
  JOIN vigil_kb.change c ON c.id = n.change_id
  JOIN vigil_kb.sentinel s ON s.id = c.sentinel_id;

COMMENT ON VIEW vigil.notifications IS 'Every notification owed for a change';
COMMENT ON COLUMN vigil.notifications.id IS 'Stable number, sent along so that a receiver can tell a repetition';
COMMENT ON COLUMN vigil.notifications.sentinel IS 'Whose change it reports';
COMMENT ON COLUMN vigil.notifications.at IS 'When the change was found';
COMMENT ON COLUMN vigil.notifications.method IS 'How it is delivered';
COMMENT ON COLUMN vigil.notifications.target IS 'To whom; empty for the dashboard';
COMMENT ON COLUMN vigil.notifications.state IS 'pending, sent or dead (given up)';
COMMENT ON COLUMN vigil.notifications.attempts IS 'How often delivery was tried';
COMMENT ON COLUMN vigil.notifications.next_try_at IS 'When it is tried next';
COMMENT ON COLUMN vigil.notifications.sent_at IS 'When the receiver accepted it';
COMMENT ON COLUMN vigil.notifications.error IS 'Why the newest attempt failed';

CREATE VIEW vigil.events AS
SELECT id, at, sentinel, kind, detail, actual_at
  FROM vigil_kb.event;

COMMENT ON VIEW vigil.events IS 'What happened to sentinels, those dropped since included';
COMMENT ON COLUMN vigil.events.id IS 'Counts up in the order things happened';
COMMENT ON COLUMN vigil.events.at IS 'When it was due; for a start or an end the planned instant';
COMMENT ON COLUMN vigil.events.sentinel IS 'To whom it happened';
COMMENT ON COLUMN vigil.events.kind IS 'create, start, end, enable, disable, error, recovered, ...';
COMMENT ON COLUMN vigil.events.detail IS 'More about it';
COMMENT ON COLUMN vigil.events.actual_at IS 'When it was carried out; later than at when the engine was down or busy';
