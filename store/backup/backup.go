// Package backup is the format of a backup: one tar file that holds the records
// and every blob they refer to, with a manifest that says what has to be in it.
//
//	ragagent.db         the records, as one SQLite file
//	blobs/ab/cdef...    each blob under its SHA-256, ascending
//	manifest.json       length and SHA-256 of every entry before it
//	manifest.sha256     of the manifest, as sha256sum writes it
//
// The manifest comes last, so that a backup is written in one pass to whatever
// takes bytes; a backup that was cut off has none and is refused. Nothing in an
// archive says where it is to be written: a reader derives the places from
// hashes it has checked itself.
package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"ragagent/store"
)

// Names of the entries that are not blobs.
const (
	recordsName  = "ragagent.db"
	manifestName = "manifest.json"
	sumName      = "manifest.sha256"
	blobsPrefix  = "blobs/"
)

// Format and Version tell the archives of this package.
const (
	Format  = "ragagent backup"
	Version = 1
)

// maxManifest bounds what is read of a manifest: about two million entries.
const maxManifest = 512 << 20

// Manifest says what an archive holds.
type Manifest struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Program   string    `json:"program"` // version of the ragagent that wrote it
	CreatedAt time.Time `json:"created_at"`
	Entries   []Entry   `json:"entries"` // in the order of the archive
	// Missing are blobs that the records refer to and that were missing or
	// damaged when the backup was made: they are not in it.
	Missing []Missing `json:"missing,omitempty"`
}

// Entry is one file of the archive.
type Entry struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Missing is a blob that could not be backed up.
type Missing struct {
	SHA256 string `json:"sha256"`
	Reason string `json:"reason"`
}

// Blobs is the number of blobs in the archive.
func (m Manifest) Blobs() int { return max(0, len(m.Entries)-1) }

// Bytes is the sum of all entries.
func (m Manifest) Bytes() (n int64) {
	for _, e := range m.Entries {
		n += e.Bytes
	}
	return n
}

// Source is what is backed up.
type Source struct {
	// Records is a copy of the records that nobody changes, at its beginning.
	Records      io.Reader
	RecordsBytes int64
	// Blobs yields the hash of every blob the copy refers to, ascending, and
	// Open reads one. They stay there while the backup is written.
	Blobs   iter.Seq2[string, error]
	Open    func(ctx context.Context, sha256 string) (store.Blob, error)
	Program string
	Now     func() time.Time // nil means time.Now
}

// Write writes a backup. Blobs that are missing or damaged are left out and
// named in the manifest: one bad file must not cost the backup of all others.
// After an error what was written is no backup and cannot be restored.
func Write(ctx context.Context, w io.Writer, src Source) (Manifest, error) {
	if src.Now == nil {
		src.Now = time.Now
	}
	now := src.Now().UTC().Truncate(time.Second)
	a := &writer{
		ctx: ctx, tar: tar.NewWriter(w),
		manifest: Manifest{Format: Format, Version: Version, Program: src.Program, CreatedAt: now},
	}
	if err := a.add(recordsName, src.RecordsBytes, src.Records, ""); err != nil {
		return a.manifest, fmt.Errorf("back up the records: %w", err)
	}
	for hash, err := range src.Blobs {
		if err != nil {
			return a.manifest, fmt.Errorf("list the blobs: %w", err)
		}
		if err := a.blob(src, hash); err != nil {
			return a.manifest, fmt.Errorf("back up blob %s: %w", hash, err)
		}
	}
	if err := a.finish(); err != nil {
		return a.manifest, fmt.Errorf("finish the backup: %w", err)
	}
	return a.manifest, nil
}

type writer struct {
	ctx      context.Context
	tar      *tar.Writer
	manifest Manifest
}

// add appends one file. want, if not "", is the hash it must turn out to have.
func (a *writer) add(name string, size int64, r io.Reader, want string) error {
	if err := a.header(name, size); err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, h), store.ContextReader(a.ctx, r))
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if n != size || want != "" && sum != want {
		return errors.New("it changed while it was read")
	}
	a.manifest.Entries = append(a.manifest.Entries, Entry{Name: name, Bytes: size, SHA256: sum})
	return nil
}

func (a *writer) header(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.manifest.CreatedAt, Format: tar.FormatPAX,
	})
}

// blob adds a blob that is what its name says. It is read twice: the archive
// must not begin with what turns out to be damaged.
func (a *writer) blob(src Source, hash string) error {
	b, err := src.Open(a.ctx, hash)
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	if err != nil {
		a.miss(hash, err.Error())
		return nil
	}
	defer func() { _ = b.Close() }() // it was read only
	h := sha256.New()
	if _, err := io.Copy(h, store.ContextReader(a.ctx, b)); err != nil {
		if a.ctx.Err() == nil {
			a.miss(hash, err.Error())
		}
		return a.ctx.Err()
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != hash {
		a.miss(hash, "its content has changed: it hashes to "+sum)
		return nil
	}
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return a.add(blobName(hash), b.Size(), b, hash)
}

func (a *writer) miss(hash, reason string) {
	a.manifest.Missing = append(a.manifest.Missing, Missing{SHA256: hash, Reason: reason})
}

func (a *writer) finish() error {
	raw, err := json.MarshalIndent(a.manifest, "", " ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	for _, e := range []struct {
		name string
		body []byte
	}{{manifestName, raw}, {sumName, sumLine(sum)}} {
		if err := a.header(e.name, int64(len(e.body))); err != nil {
			return err
		}
		if _, err := io.Copy(a.tar, bytes.NewReader(e.body)); err != nil {
			return err
		}
	}
	return a.tar.Close()
}

func sumLine(sum [sha256.Size]byte) []byte {
	return fmt.Appendf(nil, "%x  %s\n", sum, manifestName)
}

func blobName(hash string) string { return blobsPrefix + hash[:2] + "/" + hash[2:] }
