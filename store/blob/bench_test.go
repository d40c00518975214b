package blob_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragagent/store/blob"
)

// BenchmarkKeep is what a small upload costs: one file and one folder synced.
func BenchmarkKeep(b *testing.B) {
	d, err := blob.New(blob.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for i := range b.N {
		staged, err := d.Stage(b.Context(), strings.NewReader(fmt.Sprintf("content %d", i)), 100)
		if err != nil {
			b.Fatal(err)
		}
		if err := staged.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSettle is what a start does after 10,000 blobs were left under way.
func BenchmarkSettle(b *testing.B) {
	const n = 10_000
	for range b.N {
		b.StopTimer()
		dir := b.TempDir()
		d, err := blob.New(blob.Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		for i := range n {
			hash := sha256.Sum256(fmt.Append(nil, i))
			if err := os.WriteFile(filepath.Join(dir, "tmp", fmt.Sprintf("%x.left", hash)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		_ = d.Close()
		b.StartTimer()
		if d, err = blob.New(blob.Config{Dir: dir}); err != nil {
			b.Fatal(err)
		}
		hashes, err := d.Unsettled(b.Context())
		if err != nil || len(hashes) != n {
			b.Fatal(len(hashes), err)
		}
		for _, hash := range hashes {
			if err := d.Settle(b.Context(), hash); err != nil {
				b.Fatal(err)
			}
		}
		_ = d.Close()
	}
}
