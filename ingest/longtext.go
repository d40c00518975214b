package ingest

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"ragagent/ingest/parse"
)

// A text of longText bytes or more is kept in a file, which is mapped, while its
// chunks are made and embedded: what the collector of garbage may let grow is
// then in proportion to the chunks. Of the file, about residentText bytes at a
// time are in memory.
const (
	longText     = 32 << 20
	residentText = 16 << 20
)

// mapping is the text of one attempt.
type mapping struct {
	data []byte // nil for a text in memory
	from int    // what is before it is not in memory
}

// outsource moves a long text out of memory. Body, and all that was cut from it,
// must not be used after close. The error may be that the disk is full.
func (s *Service) outsource(text *parse.Text) (*mapping, error) {
	m := &mapping{}
	if len(text.Body) < longText || !canMap {
		return m, nil
	}
	file, err := os.CreateTemp(s.cfg.TempDir, "ragagent-text-*")
	if err != nil {
		return nil, fmt.Errorf("keep the text: %w", err)
	}
	defer file.Close()
	_ = os.Remove(file.Name()) // the mapping keeps the content
	if _, err := file.WriteString(text.Body); err != nil {
		return nil, fmt.Errorf("keep the text: %w", err)
	}
	if text.Body, err = m.mapFile(file, len(text.Body)); err != nil {
		return nil, fmt.Errorf("keep the text: %w", err)
	}
	debug.FreeOSMemory() // of what the text took
	// A disk that fails while the text is read must not end the server.
	debug.SetPanicOnFault(true)
	return m, nil
}

// passed says that what is before end will not be used for a while.
func (m *mapping) passed(end int) {
	if m.data != nil && end-m.from > residentText {
		m.from = end
		m.evict()
	}
}

// textReader reads a text once, and leaves little of it in memory.
type textReader struct {
	text strings.Reader
	m    *mapping
}

func (m *mapping) reader(text string) *textReader {
	r := &textReader{m: m}
	r.text.Reset(text)
	m.rewind()
	return r
}

func (r *textReader) Read(p []byte) (int, error) {
	n, err := r.text.Read(p)
	r.m.passed(int(r.text.Size()) - r.text.Len())
	return n, err
}

// Size is the length of the text.
func (r *textReader) Size() int64 { return r.text.Size() }

// rewind evicts all.
func (m *mapping) rewind() {
	if m.data != nil {
		m.from = 0
		m.evict()
	}
}

func (m *mapping) close() {
	if m.data != nil {
		debug.SetPanicOnFault(false)
		m.unmap()
	}
}
