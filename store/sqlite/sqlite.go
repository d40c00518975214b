// Package sqlite keeps the records of ragagent in one SQLite file: knowledge
// bases, documents, chunks with their vectors, jobs, conversations and runs.
// Together with the blob folder it is the truth; every index is a cache of it.
//
// What a method acknowledged is on the disk: the write-ahead log is synced
// with every commit. One connection writes, others read the snapshot of their
// own, so that no read ever waits for a write.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

	"ragagent/store"
)

// Config says where the records are.
type Config struct {
	// Path of the database file; its folder must exist. SQLite puts two more
	// files beside it, Path-wal and Path-shm. A folder lock (store/datadir)
	// keeps other processes out.
	Path string
	// Readers is how many reads may go on at once, 1..64; 0 means 8. A stream
	// (VisibleChunks, ReferencedBlobs) holds one of them until it ends.
	Readers int
	// Room is how many bytes the disk of Path has left; the log is kept short where
	// that is little. nil means that nobody knows.
	Room func() int64
	// Clock gives the times the store sets itself (UpdatedAt); nil means time.Now.
	Clock func() time.Time
}

const (
	defaultReaders = 8
	maxReaders     = 64
)

// DB implements the record contracts of package store.
type DB struct {
	writer  *sql.DB // one connection: writes queue in commits, not at SQLite's lock
	commits *committer
	readers *sql.DB
	path    string
	now     func() time.Time
	room    func() int64 // nil if nobody knows
	stmts   statements

	damage []string // see Damage
	sums   *sums    // of the file in the state opened, if known
	opened state
	whole  bool // it was opened: Close may say what it is
}

var (
	_ store.KnowledgeBases = (*DB)(nil)
	_ store.Documents      = (*DB)(nil)
	_ store.Chunks         = (*DB)(nil)
	_ store.Jobs           = (*DB)(nil)
	_ store.Addresses      = (*DB)(nil)
	_ store.Conversations  = (*DB)(nil)
	_ store.Runs           = (*DB)(nil)
	_ store.Evaluations    = (*DB)(nil)

	_ store.EmbedderChanges = (*DB)(nil)
)

// Open opens the database, makes it if it is not there and brings its schema
// up to date. A file written by a newer version is refused with ErrConflict
// and left as it is; one that is damaged is ErrDamaged, a full disk ErrFull.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Path == "" {
		return nil, store.Invalid("path", "the database needs a file name")
	}
	if cfg.Readers < 0 || cfg.Readers > maxReaders {
		return nil, store.Invalid("readers", "%d is not in 0..%d", cfg.Readers, maxReaders)
	}
	if cfg.Readers == 0 {
		cfg.Readers = defaultReaders
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := &DB{path: path, now: cfg.Clock, room: cfg.Room}
	if err := db.open(ctx, cfg.Readers); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, translate(err)), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, readers int) (err error) {
	if err := db.compareSums(); err != nil {
		return err
	}
	if err := checkLog(db.path); err != nil {
		return err
	}
	if db.writer, err = pool(db.path, 1, writerPragmas); err != nil {
		return err
	}
	db.commits = newCommitter(db.writer, db.keepLogShort)
	if err := migrate(ctx, db.writer); err != nil {
		return err
	}
	if err := db.seal(ctx); err != nil {
		return err
	}
	if db.readers, err = pool(db.path, readers, readerPragmas); err != nil {
		return err
	}
	if err := db.stmts.prepare(ctx, db.writer, db.readers); err != nil {
		return err
	}
	if db.opened, err = stateOf(db.path); err != nil {
		return err
	}
	db.keepLogShort() // what an earlier process left
	db.whole = true
	return nil
}

// Close waits for running calls, closes the file and writes down its checksums.
func (db *DB) Close() error {
	var errs []error
	for _, p := range []*sql.DB{db.readers, db.writer} { // the writer checkpoints last
		if p != nil {
			errs = append(errs, closePool(p))
		}
	}
	if err := errors.Join(errs...); err != nil || !db.whole {
		return err
	}
	db.whole = false
	if err := db.keepSums(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the checksums of %s: %w", db.path, err)
	}
	return nil
}

// closePatience bounds the wait for connections that end on their own.
const closePatience = 10 * time.Second

// closePool returns when every connection is closed: a transaction whose context
// ended is rolled back in the background, which sql.DB.Close does not wait for.
// With one left, the writer cannot empty the log into the file.
func closePool(p *sql.DB) error {
	err := p.Close()
	for began := time.Now(); p.Stats().OpenConnections > 0 && time.Since(began) < closePatience; {
		time.Sleep(time.Millisecond)
	}
	return err
}

// busyTimeout is for how many milliseconds SQLite waits for a lock.
const busyTimeout = 10_000

var writerPragmas = []string{
	// Chunk rows are about 2.5 KB: a page of 4 KB would hold one of them.
	// It is set before the first write or never.
	"page_size(8192)",
	// FULL syncs the log with every commit: what was acknowledged survives a
	// power cut, not only a killed process.
	"synchronous(FULL)",
	"foreign_keys(ON)",
	// 32 MB of log between checkpoints: each page that was written often
	// meanwhile goes into the database file once.
	"wal_autocheckpoint(4096)",
	// After a long read the log may have grown: give the space back.
	"journal_size_limit(67108864)",
	"cache_size(-32768)", // 32 MB: the inner pages of every index
	// What was deleted is overwritten with zeros, also in pages that are free.
	"secure_delete(ON)",
	fmt.Sprintf("busy_timeout(%d)", busyTimeout),
}

var readerPragmas = []string{
	"query_only(ON)",
	"cache_size(-4096)",
	fmt.Sprintf("busy_timeout(%d)", busyTimeout),
}

// pool opens size connections at most, each of them with the pragmas.
func pool(path string, size int, pragmas []string) (*sql.DB, error) {
	q := url.Values{"_pragma": pragmas}
	// Write transactions take the lock when they begin, so that none fails
	// half way because another process wrote in between.
	q.Set("_txlock", "immediate")
	// Not among the pragmas, because the driver runs those in alphabetical
	// order and this one ends the time in which the page size can be set.
	q.Set("_journal_mode", "WAL")
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	c, err := newConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	p := sql.OpenDB(c)
	p.SetMaxOpenConns(size)
	p.SetMaxIdleConns(size)
	return p, nil
}
