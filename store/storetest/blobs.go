package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// TestBlobs runs the suite of store.Blobs. open returns an empty store that is
// closed by a cleanup of t.
func TestBlobs(t *testing.T, open func(t *testing.T) store.Blobs) {
	t.Run("stage and commit", func(t *testing.T) { testBlobCommit(t, open(t)) })
	t.Run("discard", func(t *testing.T) { testBlobDiscard(t, open(t)) })
	t.Run("bounds", func(t *testing.T) { testBlobBounds(t, open(t)) })
	t.Run("names", func(t *testing.T) { testBlobNames(t, open(t)) })
	t.Run("delete", func(t *testing.T) { testBlobDelete(t, open(t)) })
	t.Run("list", func(t *testing.T) { testBlobList(t, open(t)) })
	t.Run("many at once", func(t *testing.T) { testBlobsAtOnce(t, open(t)) })
}

const noLimit = 1 << 40

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// keep stages and commits content and returns its name.
func keep(t *testing.T, blobs store.Blobs, content []byte) string {
	t.Helper()
	staged, err := blobs.Stage(t.Context(), bytes.NewReader(content), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	if err := staged.Commit(); err != nil {
		t.Fatal(err)
	}
	return staged.SHA256()
}

func list(t *testing.T, blobs store.Blobs) []string {
	t.Helper()
	var all []string
	for hash, err := range blobs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hash)
	}
	return all
}

func wantBlobs(t *testing.T, blobs store.Blobs, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, list(t, blobs)); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
}

func wantContent(t *testing.T, blobs store.Blobs, want []byte) {
	t.Helper()
	blob, err := blobs.Open(t.Context(), sum(want))
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	if err := iotest.TestReader(blob, want); err != nil {
		t.Error(err)
	}
	if blob.Size() != int64(len(want)) {
		t.Errorf("size is %d, want %d", blob.Size(), len(want))
	}
}

func testBlobCommit(t *testing.T, blobs store.Blobs) {
	big := make([]byte, 200_000)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(big) // never fails
	for _, content := range [][]byte{{}, []byte("a"), big} {
		staged, err := blobs.Stage(t.Context(), iotest.HalfReader(bytes.NewReader(content)), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if staged.SHA256() != sum(content) || staged.Size() != int64(len(content)) {
			t.Errorf("staged %s of %d bytes, want %s of %d", staged.SHA256(), staged.Size(), sum(content), len(content))
		}
		if _, err := blobs.Open(t.Context(), staged.SHA256()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("error before commit is %v, want %v", err, store.ErrNotFound)
		}
		for range 2 { // once more does nothing
			if err := staged.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if err := staged.Discard(); err != nil {
			t.Errorf("discard after commit: %v", err)
		}
		wantContent(t, blobs, content)
		if keep(t, blobs, content) != sum(content) { // is there already
			t.Error("the same content has another name")
		}
	}
	wantBlobs(t, blobs, sum(nil), sum([]byte("a")), sum(big))
}

func testBlobDiscard(t *testing.T, blobs store.Blobs) {
	staged, err := blobs.Stage(t.Context(), strings.NewReader("gone"), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := staged.Discard(); err != nil {
			t.Fatal(err)
		}
	}
	if err := staged.Commit(); err == nil {
		t.Error("what was discarded was committed")
	}
	wantBlobs(t, blobs)
}

func testBlobBounds(t *testing.T, blobs store.Blobs) {
	broken := errors.New("the line is dead")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		r    io.Reader
		max  int64
		want error
	}{
		{"one byte too many", t.Context(), strings.NewReader("abcd"), 3, store.ErrTooLarge},
		{"anything is too much", t.Context(), strings.NewReader("a"), 0, store.ErrTooLarge},
		{"endless", t.Context(), endless{}, 1 << 20, store.ErrTooLarge},
		{"reader fails", t.Context(), io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), noLimit, broken},
		{"cancelled", cancelled, endless{}, noLimit, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := blobs.Stage(c.ctx, c.r, c.max); !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
		})
	}
	wantBlobs(t, blobs)
	keep(t, blobs, []byte("abc"))
	staged, err := blobs.Stage(t.Context(), strings.NewReader("abcd"), 1<<63-1)
	if err != nil {
		t.Fatal(err)
	}
	if staged.Size() != 4 {
		t.Errorf("without a limit %d bytes were read, want 4", staged.Size())
	}
	if err := staged.Discard(); err != nil {
		t.Fatal(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func testBlobNames(t *testing.T, blobs store.Blobs) {
	kept := keep(t, blobs, []byte("abc"))
	for _, name := range []string{
		"", "abc", kept[:63], kept + "0", strings.ToUpper(kept), "../" + kept[3:], kept[:61] + "/..",
		strings.Repeat("g", 64), strings.Repeat("ü", 32), kept[:2] + "/" + kept[2:],
	} {
		if _, err := blobs.Open(t.Context(), name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("open %q: error is %v, want %v", name, err, store.ErrInvalid)
		}
		if err := blobs.Delete(t.Context(), name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("delete %q: error is %v, want %v", name, err, store.ErrInvalid)
		}
	}
	if _, err := blobs.Open(t.Context(), strings.Repeat("0", 64)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error is %v, want %v", err, store.ErrNotFound)
	}
	wantBlobs(t, blobs, kept)
}

func testBlobDelete(t *testing.T, blobs store.Blobs) {
	a, b := keep(t, blobs, []byte("a")), keep(t, blobs, []byte("b"))
	for range 2 { // what is gone is no error
		if err := blobs.Delete(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := blobs.Open(t.Context(), a); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error is %v, want %v", err, store.ErrNotFound)
	}
	wantBlobs(t, blobs, b)
	wantContent(t, blobs, []byte("b"))
	keep(t, blobs, []byte("a"))
	wantBlobs(t, blobs, a, b)
}

func testBlobList(t *testing.T, blobs store.Blobs) {
	wantBlobs(t, blobs)
	var want []string
	for i := range 60 {
		want = append(want, keep(t, blobs, []byte{byte(i)}))
	}
	staged, err := blobs.Stage(t.Context(), strings.NewReader("not kept"), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	wantBlobs(t, blobs, want...)
	if err := staged.Discard(); err != nil {
		t.Fatal(err)
	}
	for hash, err := range blobs.List(t.Context()) {
		if err != nil || hash != slices.Min(want) {
			t.Errorf("the first is %s, %v, want %s", hash, err, slices.Min(want))
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range blobs.List(ctx) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("yielded %v, want one %v", errs, context.Canceled)
	}
}

func testBlobsAtOnce(t *testing.T, blobs store.Blobs) {
	contents := [][]byte{[]byte("one"), []byte("two"), bytes.Repeat([]byte("three"), 100_000)}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			content := contents[i%len(contents)]
			staged, err := blobs.Stage(t.Context(), bytes.NewReader(content), noLimit)
			if err == nil {
				err = staged.Commit()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantBlobs(t, blobs, sum(contents[0]), sum(contents[1]), sum(contents[2]))
	for _, content := range contents {
		wantContent(t, blobs, content)
	}
}
