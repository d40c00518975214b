-- What is shown with a chunk and not quoted, and the section it is shown in (0
-- to 0: it stands for itself). Adding columns rewrites no row.

-- +goose Up
ALTER TABLE chunks ADD COLUMN context TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN parent_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN parent_end INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN parent_page_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN parent_page_end INTEGER NOT NULL DEFAULT 0;
