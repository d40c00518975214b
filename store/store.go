// Package store holds the nouns of ragagent and the contracts of the places
// that keep them. It knows no SQL, no HTTP and no model.
//
// Truth and caches: records (store/sqlite) and blobs (store/blob) are the
// truth; a vector index (store/chromem) and the lexical index
// (retrieval/bm25) are caches that can be rebuilt from it at any time.
package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/google/uuid"
)

// Sentinel errors. Every backend wraps these, so callers decide with errors.Is
// and never look at a driver's error.
var (
	// ErrNotFound says that the named thing does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict says that the thing exists already, or changed meanwhile.
	ErrConflict = errors.New("conflict")
	// ErrInvalid says that the caller's input cannot be accepted as it is.
	ErrInvalid = errors.New("invalid")
	// ErrInUse says that another process holds the data folder.
	ErrInUse = errors.New("in use")
	// ErrTooLarge says that a configured ceiling would be passed.
	ErrTooLarge = errors.New("too large")
	// ErrFull says that the disk has no room; what was there is untouched.
	ErrFull = errors.New("the disk is full")
	// ErrDamaged says that what is stored is not what was written.
	ErrDamaged = errors.New("damaged")
	// ErrUnavailable says that a service does not answer; later it may. Work
	// that meets it waits and is done again; any other error ends it.
	ErrUnavailable = errors.New("does not answer")
	// ErrOtherEmbedder says that vectors are of another embedder than those they
	// would come among: the knowledge base has changed its embedder meanwhile.
	ErrOtherEmbedder = errors.New("the vectors are of another embedder than the knowledge base's")
)

// IsFull tells a disk without room, in whichever way it shows itself: ErrFull,
// a full file system, a quota, or a limit of the size of files.
func IsFull(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// FieldError is an ErrInvalid that names the field and what to do about it.
type FieldError struct {
	Field  string // as the client wrote it, for example "top_k"
	Reason string // what is wrong and what would be right
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *FieldError) Unwrap() error { return ErrInvalid }

// Invalid returns a FieldError; format and args make the reason.
func Invalid(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// DimensionError says that a vector does not fit its index.
type DimensionError struct{ Want, Got int }

func (e *DimensionError) Error() string {
	return fmt.Sprintf("vector has %d dimensions, the index has %d", e.Got, e.Want)
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *DimensionError) Unwrap() error { return ErrInvalid }

// NewID returns a new identifier "prefix_" + 32 hex digits. Identifiers of one
// prefix sort by the time they were made (UUID version 7).
func NewID(prefix string) string {
	return prefix + "_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")
}

// Page is the window of a listing. Rows come in ascending order of their id,
// which is the order they were made in.
type Page struct {
	Limit int    // 1..MaxPage; 0 means DefaultPage
	After string // the last id of the page before; "" starts at the beginning
}

// Bounds of Page.Limit.
const (
	DefaultPage = 50
	MaxPage     = 1000
)

// Size returns the number of rows asked for, within the bounds.
func (p Page) Size() int {
	switch {
	case p.Limit <= 0:
		return DefaultPage
	case p.Limit > MaxPage:
		return MaxPage
	}
	return p.Limit
}
