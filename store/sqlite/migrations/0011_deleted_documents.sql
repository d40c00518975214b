-- What was deleted, so that it can be shown to be gone, and so that a start
-- finishes the removal of blobs that a kill came before. Rows are added at the
-- end of one table, which dirties fewer pages of a deletion than a table that
-- is ordered by hash did.

-- +goose Up
CREATE TABLE deleted_documents (
    key         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL, -- '' where only blobs were dropped
    kb_id       TEXT    NOT NULL,
    revision    INTEGER NOT NULL, -- that was visible; 0 for none
    sha256      TEXT    NOT NULL,
    text_sha256 TEXT    NOT NULL,
    deleted_at  INTEGER NOT NULL
) STRICT;

-- Up to which key blobs are known to be gone, if nothing else had them.
CREATE TABLE swept (up_to INTEGER NOT NULL) STRICT;
INSERT INTO swept VALUES (0);

INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
SELECT '', '', 0, sha256, '', CAST(unixepoch() AS INTEGER) * 1000000000 FROM dropped_blobs;

DROP TRIGGER documents_blobs_dropped;
DROP TRIGGER documents_text_dropped;
DROP TABLE dropped_blobs;

-- +goose StatementBegin
CREATE TRIGGER documents_deleted AFTER DELETE ON documents
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES (old.id, old.kb_id, old.revision, old.sha256, old.text_sha256, CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER documents_text_dropped AFTER UPDATE OF text_sha256 ON documents
WHEN old.text_sha256 NOT IN ('', new.text_sha256)
BEGIN
    INSERT INTO deleted_documents (id, kb_id, revision, sha256, text_sha256, deleted_at)
    VALUES ('', old.kb_id, 0, '', old.text_sha256, CAST(unixepoch() AS INTEGER) * 1000000000);
END;
-- +goose StatementEnd
-- Bounded: only the latest 100,000 are remembered.
-- +goose StatementBegin
CREATE TRIGGER deleted_documents_bounded AFTER INSERT ON deleted_documents
BEGIN
    DELETE FROM deleted_documents WHERE key <= new.key - 100000;
END;
-- +goose StatementEnd
