-- Where documents come from, and what they are about to become. In documents,
-- sha256 is the latest content of the document's sources, which no other
-- document of the knowledge base has; everything else there is about the
-- revision that is visible.

-- +goose Up
ALTER TABLE documents ADD COLUMN shown_sha256 TEXT NOT NULL DEFAULT ''; -- of the visible revision, where it is not sha256
ALTER TABLE documents ADD COLUMN latest INTEGER NOT NULL DEFAULT 0;     -- revision that was begun; numbers are not used again
-- The revision before the visible one, whose chunks are kept until the search
-- indexes have followed; 0 for none.
ALTER TABLE documents ADD COLUMN retiring INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN given_title TEXT NOT NULL DEFAULT '';  -- by the uploader, as opposed to found in the file
ALTER TABLE documents ADD COLUMN given_metadata TEXT NOT NULL DEFAULT '{}';
UPDATE documents SET latest = max(revision, coalesce((SELECT max(j.revision) FROM jobs j WHERE j.document = documents.key), 0));

CREATE INDEX documents_shown ON documents (shown_sha256) WHERE shown_sha256 <> '';

CREATE TABLE sources (
    key      INTEGER PRIMARY KEY,
    kb_id    TEXT    NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
    origin   TEXT    NOT NULL, -- '' for uploads by hand
    path     TEXT    NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    sum      INTEGER,
    UNIQUE (kb_id, origin, path)
) STRICT;

CREATE INDEX sources_document ON sources (document, origin, path);

-- Names could be there more than once: the latest document has it for its path.
INSERT INTO sources (kb_id, origin, path, document)
SELECT kb_id, '', iif(row_number() OVER (PARTITION BY kb_id, name ORDER BY key DESC) = 1, name, id || '/' || name), key
FROM documents;

CREATE TABLE pending (
    document       INTEGER PRIMARY KEY REFERENCES documents (key) ON DELETE CASCADE,
    revision       INTEGER NOT NULL, -- that its job makes
    name           TEXT    NOT NULL,
    mime           TEXT    NOT NULL,
    bytes          INTEGER NOT NULL,
    text_sha256    TEXT    NOT NULL,
    text_bytes     INTEGER NOT NULL,
    given_title    TEXT    NOT NULL,
    given_metadata TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    sum            INTEGER
) STRICT;

CREATE INDEX pending_text ON pending (text_sha256) WHERE text_sha256 <> '';

-- Blobs are dropped in three more ways: with a content that was superseded or
-- replaced, and with the text of a pending revision.
-- +goose StatementBegin
CREATE TRIGGER documents_content_dropped AFTER UPDATE OF sha256 ON documents
WHEN old.sha256 NOT IN (new.sha256, new.shown_sha256)
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES ('', old.kb_id, 0, old.sha256, '', CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_shown_dropped AFTER UPDATE OF shown_sha256 ON documents
WHEN old.shown_sha256 NOT IN ('', new.shown_sha256, new.sha256)
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES ('', old.kb_id, 0, old.shown_sha256, '', CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pending_text_dropped AFTER DELETE ON pending WHEN old.text_sha256 <> ''
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES ('', '', 0, '', old.text_sha256, CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pending_text_replaced AFTER UPDATE OF text_sha256 ON pending WHEN old.text_sha256 NOT IN ('', new.text_sha256)
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES ('', '', 0, '', old.text_sha256, CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd

-- What is remembered of a document: the latest revision that was begun, and all
-- its blobs.
DROP TRIGGER documents_deleted;
-- +goose StatementBegin
CREATE TRIGGER documents_deleting BEFORE DELETE ON documents
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    SELECT old.id, old.kb_id, old.latest, old.shown_sha256, coalesce(p.text_sha256, ''), CAST(unixepoch() AS INTEGER) * 1000000000
    FROM (SELECT 1) LEFT JOIN pending p ON p.document = old.key
    WHERE old.shown_sha256 <> '' OR p.text_sha256 <> '';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_deleted AFTER DELETE ON documents
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES (old.id, old.kb_id, old.latest, old.sha256, old.text_sha256, CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
