package blob_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/store"
	"ragagent/store/blob"
)

func TestBulk(t *testing.T) {
	defer goleak.VerifyNone(t)
	d, err := blob.New(blob.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	bulk := d.Bulk()
	var want []string
	for i := range 100 {
		content := strings.Repeat(fmt.Sprintf("content %d. ", i), 1+i*i)
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		if err := bulk.Put(t.Context(), hash, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		want = append(want, hash)
	}
	other := fmt.Sprintf("%x", sha256.Sum256([]byte("what it says")))
	if err := bulk.Put(t.Context(), other, strings.NewReader("what it is")); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a blob with another hash: %v", err)
	}
	if err := bulk.Put(t.Context(), "../escape", strings.NewReader("")); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a name that is none: %v", err)
	}
	if err := bulk.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	var have []string
	for hash, err := range d.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, hash)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
	if left, err := d.Unsettled(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("under way: %v, %v", left, err)
	}
	for stray, err := range d.Strays(t.Context()) {
		t.Errorf("stray %s, %v", stray, err)
	}
}

// BenchmarkBulk is what a restore does with small files: content synced by file,
// folders at the end.
func BenchmarkBulk(b *testing.B) {
	d, err := blob.New(blob.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	bulk := d.Bulk()
	for i := range b.N {
		content := fmt.Sprintf("content %d", i)
		if err := bulk.Put(b.Context(), fmt.Sprintf("%x", sha256.Sum256([]byte(content))), strings.NewReader(content)); err != nil {
			b.Fatal(err)
		}
	}
	if err := bulk.Close(); err != nil {
		b.Fatal(err)
	}
}
