package blob_test

import (
	"testing"

	"ragagent/store"
	"ragagent/store/blob"
	"ragagent/store/storetest"
)

func open(t *testing.T, dir string) *blob.Dir {
	t.Helper()
	d, err := blob.New(blob.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestBlobs(t *testing.T) {
	storetest.TestBlobs(t, func(t *testing.T) store.Blobs { return open(t, t.TempDir()) })
}
