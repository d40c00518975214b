package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"

	"ragagent/store"
)

// blobs checks every blob against its name, and that each is wanted and there.
func (v *verifier) blobs(ctx context.Context) {
	for hash, err := range v.cfg.Blobs.List(ctx) {
		if err != nil {
			v.problem("blobs", actRestore, "the folder cannot be read: %v", err)
			return // what is missing is not known
		}
		v.report.Blobs++
		where, wanted := v.used[hash]
		delete(v.used, hash)
		if !wanted {
			where = "blob " + hash
			if !v.partial {
				v.problem(where, actRemove, "no document refers to it")
			}
		}
		v.blob(ctx, where, hash)
	}
	for _, hash := range slices.Sorted(maps.Keys(v.used)) {
		v.problem(v.used[hash], actUpload, "its blob %s is missing", hash)
	}
}

func (v *verifier) blob(ctx context.Context, where, hash string) {
	got, err := v.hash(ctx, hash)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, store.ErrNotFound): // a link to nowhere, say
		v.problem(where, actUpload, "its blob %s is missing", hash)
	case err != nil:
		v.problem(where, actUpload, "its blob %s cannot be read: %v", hash, err)
	case got != hash:
		v.problem(where, actUpload, "its blob %s has changed: the content now hashes to %s", hash, got)
	}
}

func (v *verifier) hash(ctx context.Context, name string) (string, error) {
	blob, err := v.cfg.Blobs.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	h := sha256.New()
	if _, err := io.Copy(h, blob); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// strays reports what does not belong among the blobs.
func (v *verifier) strays(ctx context.Context) {
	s, ok := v.cfg.Blobs.(Straying)
	if !ok {
		return
	}
	for name, err := range s.Strays(ctx) {
		if err != nil {
			v.problem("blobs", actRestore, "the folder cannot be read: %v", err)
			return
		}
		v.problem("file blobs/"+name, actRemove, "it is no blob")
	}
}
