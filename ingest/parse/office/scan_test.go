package office

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

// tokens writes what the scanner finds, texts that follow each other joined.
func tokens(source string) ([]string, error) {
	s := newScanner(strings.NewReader(source))
	var out []string
	joined := ""
	flush := func() {
		if joined != "" {
			out = append(out, joined)
			joined = ""
		}
	}
	for {
		t, err := s.next()
		if err != nil {
			flush()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		switch t.kind {
		case start:
			flush()
			line := "<" + t.name
			if v, ok := t.lookup("val"); ok {
				line += " " + v
			}
			out = append(out, line)
		case end:
			flush()
			out = append(out, "/"+t.name)
		case text:
			joined += string(t.text)
		}
	}
}

func TestScanner(t *testing.T) {
	tests := []struct {
		source string
		want   []string
	}{
		{`<?xml version="1.0"?><w:p w:val='a "b" &lt;'><!-- c > --> x&amp;y&#65;&#x42;&nbsp;<br/></w:p>`,
			[]string{`<p a "b" <`, " x&yAB&nbsp;", "<br", "/br", "/p"}},
		{`<a other="val=1" val = "2>1"><![CDATA[<b>]]></a>`, []string{"<a 2>1", "<b>", "/a"}},
		{"\xff\xfe<\x00a\x00>\x00\xe9\x00<\x00/\x00a\x00>\x00", []string{"<a", "é", "/a"}},
		{"\ufeff<a/>", []string{"\ufeff", "<a", "/a"}},
		{"<a>" + strings.Repeat("é&amp;", 50_000) + "</a>", []string{"<a", strings.Repeat("é&", 50_000), "/a"}},
	}
	for _, tt := range tests {
		got, err := tokens(tt.source)
		if err != nil {
			t.Errorf("%.60q: %v", tt.source, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%.60q: %s", tt.source, diff)
		}
	}
}

func TestScannerRefuses(t *testing.T) {
	tests := []struct {
		name, source string
		want         error
	}{
		{"a document type", `<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>`, doc.ErrDamaged},
		{"a wrong end", "<a><b></a></b>", doc.ErrDamaged},
		{"an end too many", "<a></a></a>", doc.ErrDamaged},
		{"depth", strings.Repeat("<a>", maxDepth+1), doc.ErrDamaged},
		{"an endless tag", "<a " + strings.Repeat("x", 2*maxTag), doc.ErrDamaged},
		{"an endless section", "<a><![CDATA[" + strings.Repeat("]", 4*maxTag), doc.ErrDamaged},
		{"a cut", "<a>x", io.ErrUnexpectedEOF},
		{"a cut in a tag", "<a", io.ErrUnexpectedEOF},
		{"a cut in a comment", "<!--", io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		if _, err := tokens(tt.source); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

// FuzzScanner compares the scanner with encoding/xml: what that reads without
// complaint, both read alike.
func FuzzScanner(f *testing.F) {
	f.Add(`<a b="c">d&amp;e<f/><!-- g --><![CDATA[h]]></a>`)
	f.Add(`<w:p xmlns:w="u" w:val="1"/>`)
	f.Add("<a>\r\n</a>")
	f.Fuzz(func(t *testing.T, source string) {
		got, gotErr := tokens(source)
		want, err := byLibrary(source)
		if err != nil || gotErr != nil && (errors.Is(gotErr, errType) || len(want) > maxDepth) {
			return
		}
		if gotErr != nil {
			t.Fatalf("%v, where encoding/xml has no complaint", gotErr)
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		if diff := cmp.Diff(lines.Replace(strings.Join(want, "\x00")), lines.Replace(strings.Join(got, "\x00"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// byLibrary is tokens with encoding/xml.
func byLibrary(source string) ([]string, error) {
	d := xml.NewDecoder(strings.NewReader(source))
	var out []string
	joined := ""
	flush := func() {
		if joined != "" {
			out = append(out, joined)
			joined = ""
		}
	}
	for {
		t, err := d.Token()
		if err != nil {
			flush()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			flush()
			if strings.Contains(t.Name.Local, ":") {
				return nil, errType // a prefix of nothing, or nothing behind one
			}
			line := "<" + t.Name.Local
			for _, a := range t.Attr {
				if a.Name.Local == "val" {
					line += " " + a.Value
					break
				}
			}
			out = append(out, line)
		case xml.EndElement:
			flush()
			out = append(out, "/"+t.Name.Local)
		case xml.CharData:
			joined += string(t)
		case xml.Directive:
			return nil, errType
		}
	}
}
