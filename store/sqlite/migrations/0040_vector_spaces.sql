-- A second set of vectors of a knowledge base, while its embedder is changed and
-- until the old one is given up. Sets have numbers: 0 is the vectors in chunks,
-- where they are for every knowledge base that never changed its embedder; the
-- others are in vectors. Which set is searched is one number of the knowledge
-- base: a switch writes two rows and moves no vector.

-- +goose Up
ALTER TABLE knowledge_bases ADD COLUMN dimension INTEGER NOT NULL DEFAULT 0; -- 0: not written down
ALTER TABLE knowledge_bases ADD COLUMN space INTEGER NOT NULL DEFAULT 0;     -- the set that is searched

CREATE TABLE vectors (
    key    INTEGER PRIMARY KEY,
    chunk  INTEGER NOT NULL REFERENCES chunks (key) ON DELETE CASCADE,
    space  INTEGER NOT NULL,
    vector BLOB    NOT NULL, -- as in chunks; empty where the embedder has none
    sum    INTEGER,
    UNIQUE (chunk, space)
) STRICT;

-- A set that is not searched. Its number is the key of the change that began
-- it: AUTOINCREMENT, so that no later change meets vectors of an earlier one.
CREATE TABLE embedder_changes (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    kb_id       TEXT    NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    state       TEXT    NOT NULL CHECK (state IN ('filling', 'ready_to_switch', 'switched', 'failed', 'discarding')),
    space       INTEGER NOT NULL,
    embedder    TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    dimension   INTEGER NOT NULL,
    auto        INTEGER NOT NULL,
    compare     INTEGER NOT NULL,
    questions   TEXT    NOT NULL,
    comparison  TEXT    NOT NULL,
    done        INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    error       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    sum         INTEGER
) STRICT;

CREATE UNIQUE INDEX embedder_changes_kb ON embedder_changes (kb_id) WHERE state <> 'discarding';
CREATE INDEX embedder_changes_owner ON embedder_changes (kb_id);
