package epub

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCalibre is a book in the manner of Calibre: a cover without text, one
// chapter in several files, several entries of the navigation for one of them,
// and metadata of its own.
func TestCalibre(t *testing.T) {
	const page = `<?xml version='1.0' encoding='utf-8'?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Unknown</title></head><body class="calibre">`
	got, err := read(bookOf(t,
		file{"META-INF/container.xml", `<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
   <rootfiles>
      <rootfile full-path="content.opf" media-type="application/oebps-package+xml"/>
   </rootfiles>
</container>`},
		file{"content.opf", `<?xml version='1.0' encoding='utf-8'?>
<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="uuid_id">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf" xmlns:calibre="http://calibre.kovidgoyal.net/2009/metadata">
    <dc:creator opf:role="aut" opf:file-as="Author, Ann">Ann Author</dc:creator><dc:language>en</dc:language><dc:title>The Book</dc:title>
    <meta name="cover" content="cover"/><meta name="calibre:timestamp" content="2020-01-01T00:00:00+00:00"/>
    <dc:date>0101-01-01T00:00:00+00:00</dc:date><dc:identifier id="uuid_id" opf:scheme="uuid">1234</dc:identifier>
  </metadata>
  <manifest>
    <item id="cover" href="cover.jpeg" media-type="image/jpeg"/>
    <item id="titlepage" href="titlepage.xhtml" media-type="application/xhtml+xml"/>
    <item id="id1" href="index_split_000.html" media-type="application/xhtml+xml"/>
    <item id="id2" href="index_split_001.html" media-type="application/xhtml+xml"/>
    <item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
  </manifest>
  <spine toc="ncx"><itemref idref="titlepage"/><itemref idref="id1"/><itemref idref="id2"/></spine>
  <guide><reference type="cover" href="titlepage.xhtml" title="Cover"/></guide>
</package>`},
		file{"toc.ncx", `<?xml version='1.0' encoding='utf-8'?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="eng"><head><meta content="2" name="dtb:depth"/></head><docTitle><text>The Book</text></docTitle>
<navMap><navPoint id="a" playOrder="1"><navLabel><text>Chapter One</text></navLabel><content src="index_split_000.html#p1"/></navPoint>
<navPoint id="b" playOrder="2"><navLabel><text>Chapter One, later</text></navLabel><content src="index_split_000.html#p9"/></navPoint></navMap></ncx>`},
		file{"titlepage.xhtml", ""},
		file{"index_split_000.html", page + `<p class="calibre1">It begins.</p></body></html>`},
		file{"index_split_001.html", page + `<p class="calibre1">It goes on.</p></body></html>`},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"index_split_000.xhtml " + page + `<h1>Chapter One</h1><p class="calibre1">It begins.</p></body></html>`, "index_split_001.xhtml " + page + `<p class="calibre1">It goes on.</p></body></html>`}
	if diff := cmp.Diff(want, got.got); diff != "" {
		t.Error(diff)
	}
	if got.title != "The Book" || got.properties["author"] != "Ann Author" {
		t.Errorf("got %q and %v", got.title, got.properties)
	}
	if created, ok := got.properties["created"]; ok { // Calibre's "no date"
		t.Errorf("created %v", created)
	}
	if len(got.warnings) > 0 {
		t.Errorf("warnings %q", got.warnings)
	}
}
