package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Bounds of the write-ahead log on a disk that may soon be full. To put the log
// into the database file takes up to as much room as it has itself, so that a
// long one on a full disk could never be emptied again.
const (
	// lowRoom is when the log is kept short: as much as one that is emptied in
	// the ordinary way takes, twice.
	lowRoom = 64 << 20
	// shortLog is what it may have then.
	shortLog = 1 << 20
)

// EmptyLog puts what the write-ahead log holds into the database file and gives
// its room back. While a reader needs the log it stays, which is no error.
// store.ErrFull if the database file would have to grow and cannot.
func (db *DB) EmptyLog(ctx context.Context) error {
	select {
	case db.commits.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.commits.turn }()
	return failure("empty the write-ahead log", db.emptyLog(ctx))
}

// emptyLog is EmptyLog for whoever has the turn.
func (db *DB) emptyLog(ctx context.Context) (err error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// All writes would wait with it for a reader.
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		return err
	}
	defer func() {
		_, again := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`PRAGMA busy_timeout = %d`, busyTimeout))
		err = errors.Join(err, again)
	}()
	var busy, frames, moved int
	return conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
}

// keepLogShort empties the log after a write, if there is little room. Whether
// that works is no matter of the write's: the next one tries again.
func (db *DB) keepLogShort() {
	if db.room == nil || db.room() >= lowRoom {
		return
	}
	if info, err := os.Stat(db.path + "-wal"); err == nil && info.Size() > shortLog {
		_ = db.emptyLog(context.Background())
	}
}
