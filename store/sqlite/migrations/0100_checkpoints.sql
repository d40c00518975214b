-- Runs that have not ended, as they stood after their latest round. They refer
-- to no conversation: the first run of one is stored with it, at its end.

-- +goose Up
CREATE TABLE checkpoints (
    key             INTEGER PRIMARY KEY,
    run_id          TEXT    NOT NULL UNIQUE,
    conversation_id TEXT    NOT NULL,
    agent           TEXT    NOT NULL,
    question        TEXT    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('running', 'waiting', 'interrupted')),
    state           TEXT    NOT NULL,
    scope           TEXT    NOT NULL,
    steps           TEXT    NOT NULL, -- JSON
    started_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    sum             INTEGER
) STRICT;

CREATE INDEX checkpoints_conversation ON checkpoints (conversation_id);
