-- Evaluations: questions with known relevant documents that are asked of
-- knowledge bases, and what came of it.

-- +goose Up
CREATE TABLE evaluations (
    key             INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    name            TEXT    NOT NULL,
    knowledge_bases TEXT    NOT NULL, -- ids, as a JSON list: they may be gone
    status          TEXT    NOT NULL,
    error           TEXT    NOT NULL,
    done            INTEGER NOT NULL,
    total           INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    figures         TEXT    NOT NULL, -- JSON; 'null' before there are any
    warnings        TEXT    NOT NULL, -- a JSON list
    created_at      INTEGER NOT NULL,
    started_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    sum             INTEGER
) STRICT;

CREATE INDEX evaluations_unfinished ON evaluations (id) WHERE status IN ('queued', 'running');

-- What is large: the request, the figures of every query, the report.
CREATE TABLE evaluation_parts (
    key           INTEGER PRIMARY KEY,
    evaluation_id TEXT    NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    part          TEXT    NOT NULL,
    body          BLOB    NOT NULL,
    sum           INTEGER,
    UNIQUE (evaluation_id, part)
) STRICT;
