package blob_test

import (
	"fmt"
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
