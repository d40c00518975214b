package tabular

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"ragagent/ingest/parse/doc"
)

// longFile is a file of rows of one length that are made as they are read.
type longFile struct {
	head string
	row  func(i int) string
	rows int
	tail string
}

func (f longFile) size() int64 {
	return int64(len(f.head) + f.rows*len(f.row(0)) + len(f.tail))
}

func (f longFile) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	width := int64(len(f.row(0)))
	for n < len(p) && off < f.size() {
		var c int
		if off < int64(len(f.head)) {
			c = copy(p[n:], f.head[off:])
		} else if at := off - int64(len(f.head)); at < int64(f.rows)*width {
			c = copy(p[n:], f.row(int(at / width))[at%width:])
		} else {
			c = copy(p[n:], f.tail[at-int64(f.rows)*width:])
		}
		n, off = n+c, off+int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func longCSV(rows int) longFile {
	return longFile{"id,name,city,amount,note\n", func(i int) string {
		return fmt.Sprintf("%07d,name %07d,\"Ulm, Neu\",%9.2f,some words of a note\n", i, i, float64(i))
	}, rows, ""}
}

func longJSONL(rows int) longFile {
	return longFile{"", func(i int) string {
		return fmt.Sprintf("{\"id\": %7d, \"name\": \"name %07d\", \"tags\": [\"a\", \"b\"], \"size\": {\"w\": 1.5}}\n", i, i)
	}, rows, ""}
}

func longJSON(rows int) longFile {
	return longFile{"[\n{}", func(i int) string {
		return fmt.Sprintf(",\n{\"id\": %7d, \"name\": \"name %07d\", \"tags\": [\"a\", \"b\"], \"size\": {\"w\": 1.5}}", i, i)
	}, rows, "\n]\n"}
}

// counter is a doc.Sink that keeps nothing but counts.
type counter struct {
	recorder
	rows, blocks int
	heap         uint64 // the most in use, in bytes
}

func (c *counter) Add(b doc.Block) {
	c.rows += strings.Count(b.Text, "\n") + 1
	if c.blocks++; c.blocks%1000 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.heap = max(c.heap, m.HeapInuse)
	}
}

// TestLongFiles reads many records in bounded memory. RAGAGENT_ROWS sets how
// many.
func TestLongFiles(t *testing.T) {
	rows := 50_000
	if s := os.Getenv("RAGAGENT_ROWS"); s != "" {
		var err error
		if rows, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		file longFile
		read doc.Reader
	}{{"CSV", longCSV(rows), ReadCSV}, {"JSON Lines", longJSONL(rows), ReadJSON}, {"JSON", longJSON(rows), ReadJSON}} {
		t.Run(tt.name, func(t *testing.T) {
			var c counter
			if err := tt.read(tt.file, tt.file.size(), &c); err != nil {
				t.Fatal(err)
			}
			if c.rows != tt.file.rows || len(c.warnings) > 0 {
				t.Errorf("%d rows, want %d; warnings %q", c.rows, tt.file.rows, c.warnings)
			}
			if c.heap > 64<<20 {
				t.Errorf("%d MB in use", c.heap>>20)
			}
			t.Logf("%d MB read, at most %d MB in use", tt.file.size()>>20, c.heap>>20)
		})
	}
}

func benchmark(b *testing.B, file longFile, read doc.Reader) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, file.size()))
	if err != nil {
		b.Fatal(err)
	}
	text := string(data)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := read(strings.NewReader(text), int64(len(text)), &counter{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadCSV(b *testing.B)   { benchmark(b, longCSV(50_000), ReadCSV) }
func BenchmarkReadJSONL(b *testing.B) { benchmark(b, longJSONL(50_000), ReadJSON) }
func BenchmarkReadJSON(b *testing.B)  { benchmark(b, longJSON(50_000), ReadJSON) }
