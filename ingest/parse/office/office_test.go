package office

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"

	"ragagent/ingest/parse/doc"
)

// recorder is a doc.Sink that writes down what it is given.
type recorder struct {
	blocks     []string // "kind[level]@page text"
	title      string
	properties map[string]any
	warnings   []string
}

func (r *recorder) Add(b doc.Block) {
	line := string(b.Kind)
	if b.Level > 0 {
		line += fmt.Sprint(b.Level)
	}
	if b.Page > 0 {
		line += fmt.Sprintf("@%d", b.Page)
	}
	r.blocks = append(r.blocks, line+" "+b.Text)
}

func (r *recorder) Full() bool { return len(r.blocks) > 100_000 }

func (r *recorder) Title(title string) { r.title = title }

func (r *recorder) Property(name string, value any) {
	if r.properties == nil {
		r.properties = map[string]any{}
	}
	r.properties[name] = value
}

func (r *recorder) Warn(text string) { r.warnings = append(r.warnings, text) }

func (r *recorder) Embedded(string, io.ReaderAt, int64) error { return nil }

// part is an entry of a container.
type part struct{ name, text string }

// packed writes a container.
func packed(t testing.TB, parts ...part) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, p := range parts {
		w, err := z.Create(p.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads a container made of parts.
func read(t testing.TB, reader doc.Reader, parts ...part) (*recorder, error) {
	t.Helper()
	data := packed(t, parts...)
	var out recorder
	err := reader(bytes.NewReader(data), int64(len(data)), &out)
	return &out, err
}

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n"
	relHead = xmlHead + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relType = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// rels writes a part of relations: id, kind, target.
func rels(name string, entries ...[3]string) part {
	text := relHead
	for _, e := range entries {
		text += fmt.Sprintf(`<Relationship Id="%s" Type="%s%s" Target="%s"/>`, e[0], relType, e[1], e[2])
	}
	return part{name, text + "</Relationships>"}
}
