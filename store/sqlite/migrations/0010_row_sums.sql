-- SQLite has no checksums: a bit that turns over in a row is read as if it had
-- been written so. Each row carries one of its own (sum, see seal.go), which
-- triggers keep; the triggers are made from the tables as they are, by the
-- program, and sealed says for which columns.

-- +goose Up
ALTER TABLE knowledge_bases ADD COLUMN sum INTEGER;
ALTER TABLE documents ADD COLUMN sum INTEGER;
ALTER TABLE chunks ADD COLUMN sum INTEGER;
ALTER TABLE jobs ADD COLUMN sum INTEGER;
ALTER TABLE conversations ADD COLUMN sum INTEGER;
ALTER TABLE messages ADD COLUMN sum INTEGER;
ALTER TABLE runs ADD COLUMN sum INTEGER;
ALTER TABLE thoughts ADD COLUMN sum INTEGER;

CREATE TABLE sealed (
    name    TEXT NOT NULL PRIMARY KEY,
    columns TEXT NOT NULL -- that the sums of this table cover, in their order
) STRICT, WITHOUT ROWID;
