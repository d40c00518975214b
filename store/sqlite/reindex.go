package sqlite

import "context"

// Reindex makes every index of the database anew from its tables.
func (db *DB) Reindex(ctx context.Context) error {
	_, err := db.writer.ExecContext(ctx, `REINDEX`)
	return failure("rebuild the indexes of the records", err)
}
