package store

import (
	"context"
	"io"
	"iter"
)

// Blobs keeps byte strings under the SHA-256 of their content, in lower-case
// hex. All methods may be called concurrently.
type Blobs interface {
	// Stage reads all that r gives into a temporary place and tells its hash
	// and length. More than max bytes is ErrTooLarge; nothing is left behind
	// after an error. The caller ends it with Commit or Discard.
	Stage(ctx context.Context, r io.Reader, max int64) (Staged, error)
	// Open reads one. The reader also implements io.ReaderAt. ErrNotFound; a
	// name that is not 64 hex digits is ErrInvalid, never a path.
	Open(ctx context.Context, sha256 string) (Blob, error)
	// Delete removes one; a blob that is not there is no error.
	Delete(ctx context.Context, sha256 string) error
	// List yields the hash of every blob, in ascending order.
	List(ctx context.Context) iter.Seq2[string, error]
}

// Blob is an open blob.
type Blob interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Staged is content that was read but is not kept yet. Staging and committing
// are two steps so that committing a blob and referring to it can happen under
// one short lock, which keeps a concurrent Delete of the same content out,
// while a slow upload holds no lock at all.
//
// Between Commit and Discard a blob is under way: nothing may refer to it yet.
// A store may remember such blobs beyond the end of the process, for whoever
// clears up after a kill.
type Staged interface {
	SHA256() string
	Size() int64
	// Commit keeps the content: when it returns, the blob and its folder entry
	// are synced to the disk. Content that is there already is no error.
	Commit() error
	// Discard drops it; after Commit it says that the blob is no longer under
	// way, because it is referred to, or is to be deleted.
	Discard() error
}
