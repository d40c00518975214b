package epub

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/doc"
)

// recorder is a doc.Sink that writes down what it is given.
type recorder struct {
	got        []string
	title      string
	properties map[string]any
	warnings   []string
}

func (r *recorder) Add(b doc.Block)    { r.got = append(r.got, b.Text) }
func (r *recorder) Full() bool         { return false }
func (r *recorder) Title(title string) { r.title = title }
func (r *recorder) Property(name string, value any) {
	if s, ok := value.(string); ok && s == "" {
		return
	}
	if list, ok := value.([]string); ok && len(list) == 0 {
		return
	}
	r.properties[name] = value
}
func (r *recorder) Warn(text string) { r.warnings = append(r.warnings, text) }
func (r *recorder) Embedded(name string, file io.ReaderAt, size int64) error {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return fmt.Errorf("%w: blank", doc.ErrNoText)
	}
	r.got = append(r.got, name+" "+string(data))
	return nil
}

// file is an entry of a book.
type file struct{ name, text string }

func bookOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range append([]file{{"mimetype", "application/epub+zip"}}, files...) {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(data []byte) (*recorder, error) {
	r := &recorder{properties: map[string]any{}}
	return r, Read(bytes.NewReader(data), int64(len(data)), r)
}

func containerFile(opf string) file {
	return file{"META-INF/container.xml", `<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="` + opf + `" media-type="application/oebps-package+xml"/></rootfiles></container>`}
}

// third is a book as EPUB 3 programs write it; chapters are not in the order of
// the file.
func third(t testing.TB, more ...file) []byte {
	return bookOf(t, append([]file{
		containerFile("OEBPS/content.opf"),
		{"OEBPS/two.xhtml", "<html><body><p>Second.</p></body></html>"},
		{"OEBPS/Text/one one.xhtml", "<html><body><h1>One</h1><p>First.</p></body></html>"},
		{"OEBPS/nav.xhtml", `<html xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="page-list"><ol><li><a href="two.xhtml">17</a></li></ol></nav>
<nav epub:type="toc"><ol><li><a href="Text/one%20one.xhtml">Chapter One</a></li><li><span>Part</span><ol><li><a href="two.xhtml#a">Chapter <b>Two</b></a></li></ol></li></ol></nav></body></html>`},
		{"OEBPS/content.opf", `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A  Book</dc:title><dc:creator>Ann Author</dc:creator><dc:creator>Bob</dc:creator>
<dc:language>en</dc:language><dc:date>2021-03-04</dc:date><dc:subject>Nuts</dc:subject><dc:subject>Bolts</dc:subject><meta property="dcterms:modified">2022-01-01T00:00:00Z</meta></metadata>
<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="c2" href="two.xhtml" media-type="application/xhtml+xml"/><item id="c1" href="Text/one%20one.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="a.css" media-type="text/css"/><item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/><item id="out" href="../../../etc/passwd" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="c1"/><itemref idref="c2"/><itemref idref="c1"/><itemref idref="nobody"/><itemref idref="out"/></spine></package>`},
	}, more...)...)
}

func TestRead(t *testing.T) {
	got, err := read(third(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"one one.xhtml <html><body><h1>One</h1><p>First.</p></body></html>",
		"two.xhtml <html><body><h2>Chapter Two</h2><p>Second.</p></body></html>",
	}
	if diff := cmp.Diff(want, got.got); diff != "" {
		t.Error(diff)
	}
	if got.title != "A Book" {
		t.Errorf("the title is %q", got.title)
	}
	properties := map[string]any{"author": "Ann Author; Bob", "language": "en", "created": "2021-03-04T00:00:00Z", "keywords": []string{"Nuts", "Bolts"}}
	if diff := cmp.Diff(properties, got.properties); diff != "" {
		t.Error(diff)
	}
	if len(got.warnings) > 0 {
		t.Errorf("warnings %q", got.warnings)
	}
}

// TestSecondEdition is a book as EPUB 2 programs write it: the navigation is a
// file of its own kind.
func TestSecondEdition(t *testing.T) {
	got, err := read(bookOf(t,
		containerFile("content.opf"),
		file{"content.opf", `<?xml version="1.0" encoding="utf-8"?><package version="2.0"><metadata><dc:title>T</dc:title></metadata>
<manifest><item href="a.html" id="a" media-type="application/xhtml+xml"/><item href="b.html" id="b" media-type="application/xhtml+xml"/><item href="toc.ncx" id="ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine toc="ncx"><itemref idref="a"/><itemref idref="b"/></spine></package>`},
		file{"toc.ncx", `<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx><docTitle><text>T</text></docTitle><navMap>
<navPoint><navLabel><text>Part&nbsp;I</text></navLabel><content src="a.html"/><navPoint><navLabel><text>Chapter 1 &amp; 2</text></navLabel><content src="b.html#x"/></navPoint></navPoint></navMap></ncx>`},
		file{"a.html", "<body class='x'><p>A"}, file{"b.html", "<body><p>B"},
	))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.xhtml <body class='x'><h1>Part I</h1><p>A", "b.xhtml <body><h2>Chapter 1 &amp; 2</h2><p>B"}, got.got); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedBooks(t *testing.T) {
	tests := []struct {
		name  string
		files []file
		want  []string
		err   error
	}{
		{"no package", []file{{"b.xhtml", "<p>B"}, {"a.html", "<p>A"}, {"c.css", "p {}"}}, []string{"b.xhtml <p>B", "a.xhtml <p>A"}, nil},
		{"no container", []file{{"x.opf", `<package><manifest><item id="a" href="a.html"/></manifest></package>`}, {"a.html", "<p>A"}, {"b.html", "<p>B"}}, []string{"a.xhtml <p>A"}, nil},
		{"a package that breaks off", []file{containerFile("x.opf"), {"x.opf", `<package><manifest><item id="a" href="a.html"/><item id="b" hr`}, {"a.html", "<p>A"}, {"b.html", "<p>B"}}, []string{"a.xhtml <p>A"}, nil},
		{"a text is missing", []file{{"x.opf", `<package><manifest><item id="a" href="a.html"/><item id="b" href="b.html"/></manifest></package>`}, {"a.html", "<p>A"}}, []string{"a.xhtml <p>A"}, nil},
		{"a blank text", []file{{"a.html", ""}, {"b.html", "<p>B"}}, []string{"b.xhtml <p>B"}, nil},
		{"nothing", []file{{"a.css", "p {}"}}, nil, doc.ErrDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(bookOf(t, tt.files...))
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got.got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := read(third(t)[:500]); !errors.Is(err, doc.ErrDamaged) {
		t.Errorf("got %v, want %v", err, doc.ErrDamaged)
	}
}

func encryption(algorithm, uri string) file {
	return file{"META-INF/encryption.xml", `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>
<enc:EncryptionMethod Algorithm="` + algorithm + `"/><enc:CipherData><enc:CipherReference URI="` + uri + `"/></enc:CipherData></enc:EncryptedData></encryption>`}
}

func TestCopyProtection(t *testing.T) {
	if _, err := read(third(t, encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/two.xhtml"))); !errors.Is(err, doc.ErrEncrypted) {
		t.Errorf("a protected book: got %v", err)
	}
	if _, err := read(third(t, encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf"))); err != nil {
		t.Errorf("an obfuscated font: got %v", err)
	}
}

func TestDeepXML(t *testing.T) {
	deep := strings.Repeat("<a>", 100_000)
	got, err := read(bookOf(t, containerFile("x.opf"), file{"x.opf", deep}, file{"a.html", "<p>A"}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.xhtml <p>A"}, got.got); diff != "" {
		t.Error(diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(third(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := read(data)
		for _, known := range []error{nil, doc.ErrDamaged, doc.ErrEncrypted, doc.ErrLimit, doc.ErrNoText} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Fatal(err)
	})
}
