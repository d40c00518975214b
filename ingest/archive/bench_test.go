package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"ragagent/ingest/archive"
)

// benchMembers are 20,000 files of 4 kB of words.
func benchMembers() []member {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox jumps over a lazy dog while revenue grew by percent in quarters of years")
	out := make([]member, 20_000)
	for i := range out {
		var text strings.Builder
		for text.Len() < 4000 {
			fmt.Fprintf(&text, "%s %d ", words[rng.IntN(len(words))], rng.IntN(1000))
		}
		out[i] = member{fmt.Sprintf("folder%d/file%d.txt", i%100, i), text.String()}
	}
	return out
}

// BenchmarkWalk reads 20,000 files from a zip and a tar.gz, and the same with
// nothing but the standard library.
func BenchmarkWalk(b *testing.B) {
	members := benchMembers()
	zipped := zipOf(b, members...)
	tarred := gzipOf(b, tarOf(b, members...))
	for name, run := range map[string]func() (int64, error){
		"zip/walk":        func() (int64, error) { return walkAll(zipped) },
		"zip/standard":    func() (int64, error) { return standardZip(zipped) },
		"tar.gz/walk":     func() (int64, error) { return walkAll(tarred) },
		"tar.gz/standard": func() (int64, error) { return standardTar(tarred) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n, err := run()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(n)
			}
		})
	}
}

func walkAll(data []byte) (total int64, err error) {
	for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), archive.Limits{}) {
		if err != nil {
			return total, err
		}
		n, err := io.Copy(io.Discard, e.Body)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

func standardZip(data []byte) (total int64, err error) {
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	for _, f := range files.File {
		body, err := f.Open()
		if err != nil {
			return total, err
		}
		n, err := io.Copy(io.Discard, body)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

func standardTar(data []byte) (total int64, err error) {
	unzip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	for files := tar.NewReader(unzip); ; {
		if _, err := files.Next(); err == io.EOF {
			return total, nil
		} else if err != nil {
			return total, err
		}
		n, err := io.Copy(io.Discard, files)
		if total += n; err != nil {
			return total, err
		}
	}
}
