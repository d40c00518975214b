package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

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
		begin := time.Now()
		where, wanted := v.used[hash]
		delete(v.used, hash)
		if !wanted {
			where = "blob " + hash
			if !v.partial && v.unwanted(ctx, hash) {
				v.problem(where, actRemove, "no document refers to it")
			}
		}
		v.blob(ctx, where, hash)
		if v.how.Gentle {
			pause(ctx, time.Since(begin))
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(v.used)) {
		if v.missing(ctx, hash) {
			v.problem(v.used[hash], actUpload, "its blob %s is missing", hash)
		}
	}
}

// looks is how often a blob has to be found left over: the same content may
// come and go again and again, and its deletion be under way at each look.
const looks = 5

// unwanted says whether a blob is there that nothing refers to, or is about to,
// and that no deletion which is being made is about to remove.
func (v *verifier) unwanted(ctx context.Context, hash string) bool {
	for range looks {
		if !v.idle(ctx, hash) {
			return false
		}
		v.order.settle()
	}
	return true
}

func (v *verifier) idle(ctx context.Context, hash string) bool {
	defer v.Service.blobs.lock(hash)()
	if used, err := v.cfg.Records.BlobInUse(ctx, hash); err != nil || used || v.Service.blobs.isHeld(hash) {
		return false
	}
	return !v.absent(ctx, hash)
}

// missing says whether a blob is not there that something refers to.
func (v *verifier) missing(ctx context.Context, hash string) bool {
	defer v.Service.blobs.lock(hash)()
	used, err := v.cfg.Records.BlobInUse(ctx, hash)
	return v.absent(ctx, hash) && (err != nil || used)
}

func (v *verifier) absent(ctx context.Context, hash string) bool {
	blob, err := v.cfg.Blobs.Open(ctx, hash)
	if err != nil {
		return errors.Is(err, store.ErrNotFound)
	}
	return blob.Close() != nil
}

func (v *verifier) blob(ctx context.Context, where, hash string) {
	got, err := v.hash(ctx, hash)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, store.ErrNotFound): // deleted meanwhile; or a link to nowhere, say
		if v.missing(ctx, hash) {
			v.problem(where, actUpload, "its blob %s is missing", hash)
		}
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
