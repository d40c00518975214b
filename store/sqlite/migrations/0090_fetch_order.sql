-- Who looks for something to fetch went through every queued job.

-- +goose Up
CREATE INDEX fetches_order ON fetches (kind, not_before);
