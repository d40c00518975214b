package tabular

import (
	"fmt"
	"io"
	"strings"

	"ragagent/ingest/parse/doc"
)

// recorder is a doc.Sink that writes down what it is given.
type recorder struct {
	blocks     []string // "kind: text"
	properties map[string]any
	warnings   []string
}

func (r *recorder) Add(b doc.Block) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	kind := string(b.Kind)
	if b.Kind == doc.Heading {
		kind = fmt.Sprintf("h%d", b.Level)
	}
	r.blocks = append(r.blocks, kind+": "+b.Text)
}
func (r *recorder) Full() bool   { return false }
func (r *recorder) Title(string) {}
func (r *recorder) Property(name string, value any) {
	if r.properties == nil {
		r.properties = map[string]any{}
	}
	r.properties[name] = value
}
func (r *recorder) Warn(text string)                          { r.warnings = append(r.warnings, text) }
func (r *recorder) Embedded(string, io.ReaderAt, int64) error { return nil }

// read runs a reader over text.
func read(reader doc.Reader, text string) (*recorder, error) {
	r := &recorder{}
	return r, reader(strings.NewReader(text), int64(len(text)), r)
}
