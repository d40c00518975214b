package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"ragagent/store"
)

// write runs fn in a write transaction, which it may share with others: all of
// it is durable when write returns nil, nothing of it is there otherwise. what
// says for the error message what was being done. fn uses the context it is
// given, and may be called again when what it did before has been undone.
func (db *DB) write(ctx context.Context, what string, fn func(context.Context, *sql.Tx) error) error {
	return failure(what, db.commits.run(ctx, fn))
}

// read runs fn over one snapshot.
func (db *DB) read(ctx context.Context, what string, fn func(*sql.Tx) error) error {
	return failure(what, inTx(ctx, db.readers, &sql.TxOptions{ReadOnly: true}, func(_ context.Context, tx *sql.Tx) error { return fn(tx) }))
}

func inTx(ctx context.Context, pool *sql.DB, opts *sql.TxOptions, fn func(context.Context, *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// failure is an error as it leaves the package, nil for none.
func failure(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, translate(err))
}

// translate gives the driver's errors the sentinels callers know.
func translate(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	case codes.SQLITE_CONSTRAINT_CHECK:
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	switch e.Code() & 0xff { // extended codes say in their low byte what they are a kind of
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	switch e.Code() {
	case codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_FSYNC, codes.SQLITE_IOERR_TRUNCATE:
		// A quota, a file size limit and some file systems show themselves so.
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	return err
}

// execPrepared runs a statement of the writer's.
func execPrepared(ctx context.Context, tx *sql.Tx, prepared *sql.Stmt, args ...any) error {
	stmt := tx.StmtContext(ctx, prepared)
	defer stmt.Close()
	_, err := stmt.ExecContext(ctx, args...)
	return err
}

// rowPrepared is the one row of a statement of the writer's.
func rowPrepared(ctx context.Context, tx *sql.Tx, prepared *sql.Stmt, args ...any) scanner {
	stmt := tx.StmtContext(ctx, prepared)
	return closingRow{stmt.QueryRowContext(ctx, args...), stmt}
}

// closingRow closes its statement when it was read.
type closingRow struct {
	*sql.Row
	stmt *sql.Stmt
}

func (r closingRow) Scan(dest ...any) error { return errors.Join(r.Row.Scan(dest...), r.stmt.Close()) }

// changed is ErrNotFound if an UPDATE or DELETE met no row.
func changed(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// scanner is what sql.Row and sql.Rows have in common.
type scanner interface{ Scan(dest ...any) error }

// collect reads all rows by scan.
func collect[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
