-- Jobs are taken up by turn, so that what comes in bulk does not keep others
-- waiting; of the same turn, in the order they came in.

-- +goose Up
ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;

CREATE INDEX jobs_turn ON jobs (status, turn, id);
