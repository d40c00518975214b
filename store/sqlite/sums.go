package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ragagent/store"
)

// SQLite does not checksum its pages: a bit that turns over in a text is read
// as if it had been written so. Therefore Close leaves the checksums of the
// file's blocks beside it, and the next Open compares. While the database is
// open there are none, so a process that was killed leaves none behind either;
// what was written last is then guarded by the checksums of the write-ahead log.

// sumsSuffix is appended to the database's path.
const sumsSuffix = ".sums"

// unfinishedSums is appended to it while they are written.
const unfinishedSums = sumsSuffix + ".new"

// sumBlock is the number of bytes under one checksum.
const sumBlock = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sums are what Close has written down.
type sums struct {
	Size   int64    `json:"size"`
	Blocks []uint32 `json:"blocks"` // CRC-32C of each sumBlock bytes
	// Damage is what an Open has found. It stays here, and is told each time,
	// until the file is replaced or Accept is called.
	Damage []string `json:"damage,omitempty"`
	Check  uint32   `json:"check"` // CRC-32C of this value's JSON with a Check of 0
}

// seal computes Check.
func (s sums) seal() (sums, error) {
	s.Check = 0
	raw, err := json.Marshal(s)
	s.Check = crc32.Checksum(raw, castagnoli)
	return s, err
}

// state is a file's size and time of change: equal states, equal content, as
// far as this process is the only one that writes it.
type state struct {
	size    int64
	changed time.Time
}

func stateOf(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	return state{info.Size(), info.ModTime()}, nil
}

// sumFile reads a whole file.
func sumFile(path string) (s sums, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }() // it was read only
	block := make([]byte, sumBlock)
	for {
		n, err := io.ReadFull(f, block)
		if n > 0 {
			s.Blocks = append(s.Blocks, crc32.Checksum(block[:n], castagnoli))
			s.Size += int64(n)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return s.seal()
		}
		if err != nil {
			return s, err
		}
	}
}

// readSums returns nil if there are none.
func readSums(path string) (*sums, error) {
	raw, err := os.ReadFile(path + sumsSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the checksums %s%s: %w", path, sumsSuffix, err)
	}
	var s sums
	if err := json.Unmarshal(raw, &s); err == nil {
		if sealed, err := s.seal(); err == nil && sealed.Check == s.Check {
			return &s, nil
		}
	}
	return &sums{Damage: []string{"the checksums in " + filepath.Base(path) + sumsSuffix + " are damaged: whether the database is cannot be told from them"}}, nil
}

// compareSums looks for what happened to the file while nobody had it open.
// What it finds is written down at once; else the sums are removed, as the file
// will change from now on.
func (db *DB) compareSums() error {
	// Of a process that was killed while it wrote them.
	if err := os.Remove(db.path + unfinishedSums); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old, err := readSums(db.path)
	if err != nil || old == nil {
		return err
	}
	damage := old.Damage
	if len(damage) == 0 {
		if err := foreignLog(db.path); err != nil {
			return err
		}
		now, err := sumFile(db.path)
		if err != nil {
			return err
		}
		if damage = difference(*old, now); len(damage) == 0 {
			db.sums = &now
			if err := os.Remove(db.path + sumsSuffix); err != nil {
				return err
			}
			return syncPath(filepath.Dir(db.path))
		}
	}
	db.damage = damage
	return writeSums(db.path, sums{Damage: damage})
}

// foreignLog is ErrDamaged if there is a log beside a closed database, as there
// is none while there are checksums: SQLite would take what is in it for what
// was stored last.
func foreignLog(path string) error {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s-wal: %w: the database was closed in full and needs no log, this one is of something else: "+
		"move it away, and %s-shm if it is there", path, store.ErrDamaged, path)
}

// difference says where two states of a file differ, in at most a few lines.
func difference(old, now sums) (damage []string) {
	if old.Size != now.Size {
		damage = append(damage, fmt.Sprintf("the database file had %d bytes when it was closed, it has %d now", old.Size, now.Size))
	}
	for i := range min(len(old.Blocks), len(now.Blocks)) {
		if old.Blocks[i] == now.Blocks[i] {
			continue
		}
		if len(damage) == maxDamage {
			return append(damage, "and in more places")
		}
		damage = append(damage, fmt.Sprintf("the database file has changed since it was closed, between byte %d and %d", i*sumBlock, (i+1)*sumBlock))
	}
	return damage
}

// maxDamage bounds the lines about one file.
const maxDamage = 10

// keepSums writes the sums of the closed file. Known damage stays known.
func (db *DB) keepSums() error {
	if len(db.damage) > 0 {
		return nil
	}
	if _, err := os.Stat(db.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err // the log could not be emptied: the file is not the whole
	}
	now, err := stateOf(db.path)
	if err != nil {
		return err
	}
	if db.sums == nil || now != db.opened {
		s, err := sumFile(db.path)
		if err != nil {
			return err
		}
		db.sums = &s
	}
	return writeSums(db.path, *db.sums)
}

func writeSums(path string, s sums) error {
	s, err := s.seal()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	next := path + unfinishedSums
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		// A file without checksums is one that is not compared, no more.
		if store.IsFull(err) {
			return os.Remove(next)
		}
		return err
	}
	if err := syncPath(next); err != nil {
		return err
	}
	if err := os.Rename(next, path+sumsSuffix); err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

// Damage says what was done to the file while nobody had it open; nil if
// nothing. What it holds may still be read, and may be wrong.
func (db *DB) Damage() []string { return slices.Clone(db.damage) }

// Accept takes the file as it is from now on: Damage is forgotten.
func (db *DB) Accept() error {
	if len(db.damage) == 0 {
		return nil
	}
	db.damage = nil
	if err := os.Remove(db.path + sumsSuffix); err != nil {
		return fmt.Errorf("forget the damage of %s: %w", db.path, err)
	}
	return nil
}
