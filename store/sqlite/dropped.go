package sqlite

import (
	"context"
	"database/sql"
)

// DroppedBlobs lists the hashes, ascending, that documents have ceased to refer
// to since ForgetDropped. Others may still refer to them.
func (db *DB) DroppedBlobs(ctx context.Context) (hashes []string, err error) {
	err = db.read(ctx, "dropped blobs", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT sha256 FROM dropped_blobs ORDER BY sha256`)
		hashes, err = collect(rows, err, func(row scanner) (hash string, err error) {
			err = row.Scan(&hash)
			return hash, err
		})
		return err
	})
	return hashes, err
}

// ForgetDropped empties the list.
func (db *DB) ForgetDropped(ctx context.Context) error {
	return db.write(ctx, "forget dropped blobs", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM dropped_blobs`)
		return err
	})
}
