-- URLs that documents come from, and jobs that have something to fetch before
-- there is a content to be parsed.

-- +goose Up
CREATE TABLE addresses (
    key           INTEGER PRIMARY KEY,
    kb_id         TEXT    NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    url           TEXT    NOT NULL, -- normalised
    document      INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    final_url     TEXT    NOT NULL, -- after redirects; '' before the first fetch
    etag          TEXT    NOT NULL,
    last_modified TEXT    NOT NULL,
    fetched_at    INTEGER NOT NULL,
    refresh       INTEGER NOT NULL, -- nanoseconds; 0 for never
    next_at       INTEGER NOT NULL, -- 0 for never
    gone_since    INTEGER NOT NULL,
    failures      INTEGER NOT NULL, -- in a row
    error         TEXT    NOT NULL,
    sum           INTEGER,
    UNIQUE (kb_id, url)
) STRICT;

CREATE INDEX addresses_document ON addresses (document);
CREATE INDEX addresses_due ON addresses (next_at) WHERE next_at > 0;

-- A job that has a row here is not for those who parse.
CREATE TABLE fetches (
    key        INTEGER PRIMARY KEY,
    job        TEXT    NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL, -- fetch or crawl: a crawl is a fetch when its pages are done
    not_before INTEGER NOT NULL,
    sum        INTEGER
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER jobs_fetch_first AFTER INSERT ON jobs WHEN new.kind IN ('fetch', 'crawl')
BEGIN
    INSERT INTO fetches (job, kind, not_before) VALUES (new.id, new.kind, 0);
END;
-- +goose StatementEnd

-- Pages that a crawl knows: those it has asked for, and those that wait.
CREATE TABLE crawl_pages (
    key     INTEGER PRIMARY KEY,
    job     TEXT    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    url     TEXT    NOT NULL,
    depth   INTEGER NOT NULL,
    state   INTEGER NOT NULL, -- 0 waits, 1 was asked for, 2 became a document
    content TEXT    NOT NULL, -- digest, hexadecimal; '' for none
    sum     INTEGER,
    UNIQUE (job, url)
) STRICT;

CREATE INDEX crawl_pages_order ON crawl_pages (job, state, key);
