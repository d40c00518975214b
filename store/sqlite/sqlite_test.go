package sqlite_test

import (
	"io"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"ragagent/store/sqlite"
	"ragagent/store/storetest"
)

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, db) })
	return db
}

func closing(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestRecords(t *testing.T) {
	defer goleak.VerifyNone(t)
	storetest.TestRecords(t, func(t *testing.T) storetest.Records {
		return open(t, filepath.Join(t.TempDir(), "records.db"))
	})
}
