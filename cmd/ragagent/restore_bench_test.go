package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ragagent/store"
	"ragagent/store/backup"
	"ragagent/store/sqlite"
)

// BenchmarkRestore puts a backup in place, without the verification that
// follows: many small files, and few large ones.
func BenchmarkRestore(b *testing.B) {
	for _, c := range []struct{ files, bytes int }{{10_000, 4 << 10}, {40, 8 << 20}} {
		b.Run(fmt.Sprintf("files=%d/bytes=%d", c.files, c.bytes), func(b *testing.B) {
			dir := b.TempDir()
			file := filepath.Join(dir, "b")
			size := syntheticBackup(b, file, c.files, c.bytes)
			b.SetBytes(size)
			b.ResetTimer()
			for i := range b.N {
				cmd := restoreCmd{File: file}
				cmd.Data = filepath.Join(dir, fmt.Sprint(i))
				if _, err := cmd.restore(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := os.RemoveAll(cmd.Data); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N*c.files)/b.Elapsed().Seconds(), "files/s")
		})
	}
}

// syntheticBackup is one of empty records and files that nothing refers to.
func syntheticBackup(b *testing.B, file string, files, size int) (bytes int64) {
	b.Helper()
	path := file + ".db"
	db, err := sqlite.Open(b.Context(), sqlite.Config{Path: path})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	contents := map[string][]byte{}
	for i := range files {
		content := make([]byte, size)
		copy(content, fmt.Sprint(i))
		contents[fmt.Sprintf("%x", sha256.Sum256(content))] = content
	}
	records, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	m, err := backup.Write(b.Context(), out, backup.Source{
		Records: readerOf(records), RecordsBytes: int64(len(records)), Blobs: sorted(contents),
		Open: func(_ context.Context, hash string) (store.Blob, error) {
			return memoryBlob{readerOf(contents[hash])}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return m.Bytes()
}

func readerOf(raw []byte) *bytes.Reader { return bytes.NewReader(raw) }

func sorted(contents map[string][]byte) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, hash := range slices.Sorted(maps.Keys(contents)) {
			if !yield(hash, nil) {
				return
			}
		}
	}
}

type memoryBlob struct{ *bytes.Reader }

func (memoryBlob) Close() error { return nil }
