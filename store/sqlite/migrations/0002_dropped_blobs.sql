-- Blobs that a document referred to and no longer does. A blob is deleted after
-- the transaction that drops the reference, so a kill can come between: at the
-- next start what is listed here and not in use is deleted, and the list begun
-- anew. Rows stay until then, because the deletion itself is not synced.

-- +goose Up
CREATE TABLE dropped_blobs (
    sha256 TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER documents_blobs_dropped AFTER DELETE ON documents
BEGIN
    INSERT OR IGNORE INTO dropped_blobs VALUES (old.sha256);
    INSERT OR IGNORE INTO dropped_blobs SELECT old.text_sha256 WHERE old.text_sha256 <> '';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_text_dropped AFTER UPDATE OF text_sha256 ON documents
WHEN old.text_sha256 NOT IN ('', new.text_sha256)
BEGIN
    INSERT OR IGNORE INTO dropped_blobs VALUES (old.text_sha256);
END;
-- +goose StatementEnd
