-- Deletions are forgotten only when their blobs are known to be gone: a knowledge
-- base of more than 100,000 documents goes in one transaction.

-- +goose Up
DROP TRIGGER deleted_documents_bounded;

-- +goose StatementBegin
CREATE TRIGGER deleted_documents_bounded AFTER INSERT ON deleted_documents
BEGIN
    DELETE FROM deleted_documents WHERE key <= min(new.key - 100000, (SELECT up_to FROM swept));
END;
-- +goose StatementEnd
