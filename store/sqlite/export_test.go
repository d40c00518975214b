package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// OpenFile opens a database as this package does, but for what its methods do:
// to write what a fault of this program would.
func OpenFile(path string) (*sql.DB, error) { return pool(path, 1, nil) }

// MigrateTo makes a database of an earlier schema.
func MigrateTo(ctx context.Context, path string, version int64) (err error) {
	db, err := pool(path, 1, writerPragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	steps, err := migrationSteps(db)
	if err != nil {
		return err
	}
	_, err = steps.UpTo(ctx, version)
	return err
}
