-- Times are Unix nanoseconds in UTC, 0 for never. Lists and maps are JSON.
-- Rows that many others refer to have an integer key beside their public id,
-- which keeps the rows and the indexes of the many small.

-- +goose Up
CREATE TABLE knowledge_bases (
    id             TEXT    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE,
    description    TEXT    NOT NULL,
    embedder       TEXT    NOT NULL,
    fingerprint    TEXT    NOT NULL,
    chunking       TEXT    NOT NULL,
    retrieval      TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    -- Kept by the triggers below: reading a knowledge base, which every
    -- question does, must not count its documents.
    document_count INTEGER NOT NULL DEFAULT 0,
    chunk_count    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE documents (
    key              INTEGER PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    kb_id            TEXT    NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    name             TEXT    NOT NULL,
    title            TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'ready', 'failed', 'cancelled')),
    error            TEXT    NOT NULL,
    mime             TEXT    NOT NULL,
    bytes            INTEGER NOT NULL,
    sha256           TEXT    NOT NULL,
    text_sha256      TEXT    NOT NULL,
    text_bytes       INTEGER NOT NULL,
    pages            INTEGER NOT NULL,
    chunk_count      INTEGER NOT NULL, -- of the visible revision
    metadata         TEXT    NOT NULL,
    warnings         TEXT    NOT NULL,
    -- The revision whose chunks are found; 0 while there is none. It stays as
    -- it is while a job makes the next one (jobs.revision).
    revision         INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    UNIQUE (kb_id, sha256) -- the same bytes are one document
) STRICT;

-- Unique, as ids are, to let the planner know: it then walks documents and
-- their chunks in order without sorting them.
CREATE UNIQUE INDEX documents_kb ON documents (kb_id, id);
CREATE INDEX documents_sha256 ON documents (sha256);
CREATE INDEX documents_text ON documents (text_sha256);

-- +goose StatementBegin
CREATE TRIGGER documents_added AFTER INSERT ON documents
BEGIN
    UPDATE knowledge_bases
    SET document_count = document_count + 1, chunk_count = chunk_count + new.chunk_count
    WHERE id = new.kb_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_removed AFTER DELETE ON documents
BEGIN
    UPDATE knowledge_bases
    SET document_count = document_count - 1, chunk_count = chunk_count - old.chunk_count
    WHERE id = old.kb_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_counted AFTER UPDATE OF chunk_count ON documents
BEGIN
    UPDATE knowledge_bases
    SET chunk_count = chunk_count + new.chunk_count - old.chunk_count
    WHERE id = new.kb_id;
END;
-- +goose StatementEnd

CREATE TABLE chunks (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    document   INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    revision   INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    headings   TEXT    NOT NULL,
    page_start INTEGER NOT NULL,
    page_end   INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end   INTEGER NOT NULL,
    text       TEXT    NOT NULL,
    vector     BLOB,             -- little-endian float32; NULL where there is none
    UNIQUE (document, revision, ordinal)
) STRICT;

CREATE TABLE jobs (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    document    INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    revision    INTEGER NOT NULL, -- the one it makes
    status      TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'ready', 'failed', 'cancelled')),
    stage       TEXT    NOT NULL,
    done        INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    error       TEXT    NOT NULL,
    attempts    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;

CREATE INDEX jobs_status ON jobs (status, id);
CREATE INDEX jobs_document ON jobs (document, id);

CREATE TABLE conversations (
    id         TEXT    NOT NULL PRIMARY KEY,
    title      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    id              TEXT    NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    agent           TEXT    NOT NULL,
    question        TEXT    NOT NULL,
    answer          TEXT    NOT NULL,
    finished_reason TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    trace           TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_conversation ON runs (conversation_id);

CREATE TABLE thoughts (
    run_id      TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL CHECK (position >= 1),
    thought     TEXT    NOT NULL,
    tool        TEXT    NOT NULL,
    tool_input  TEXT    NOT NULL,
    observation TEXT    NOT NULL,
    error       TEXT    NOT NULL,
    elapsed_ms  INTEGER NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT;

CREATE TABLE messages (
    key             INTEGER PRIMARY KEY, -- in the order they were said
    id              TEXT    NOT NULL UNIQUE,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    run_id          TEXT    REFERENCES runs (id) ON DELETE CASCADE, -- NULL for a user's
    role            TEXT    NOT NULL CHECK (role IN ('user', 'assistant')),
    content         TEXT    NOT NULL,
    citations       TEXT    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_conversation ON messages (conversation_id, key);
CREATE INDEX messages_run ON messages (run_id);
