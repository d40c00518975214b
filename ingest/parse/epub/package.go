package epub

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"ragagent/ingest/parse/doc"
)

// packageFile is what the package file (.opf) tells.
type packageFile struct {
	meta  map[string][]string // Dublin Core elements
	texts []string            // names of entries, in reading order
	nav   string              // entry of EPUB 3's navigation, "" for none
	ncx   string              // entry of EPUB 2's
}

// Bounds of a package.
const (
	maxTexts  = 20_000
	maxValues = 100  // of one Dublin Core element
	maxValue  = 8192 // bytes of one
	maxXML    = 256  // depth of elements
)

var errXML = errors.New("unreadable XML")

// packageFile finds and reads the package file.
func (b *book) packageFile() (*packageFile, error) {
	name := b.packageName()
	if name == "" {
		return nil, errXML
	}
	data, err := b.ReadAll(name, maxPackage)
	if err != nil {
		return nil, err
	}
	return b.readPackage(name, data)
}

// packageName is what META-INF/container.xml says, else the first entry that is
// called as package files are.
func (b *book) packageName() string {
	found := ""
	if data, err := b.ReadAll("META-INF/container.xml", maxPackage); err == nil {
		_ = elements(data, func(e xml.StartElement, _ func() string) {
			if e.Name.Local == "rootfile" && found == "" {
				found = resolve("", attr(e, "full-path"))
			}
		})
	}
	if found != "" && b.Has(found) {
		return found
	}
	for _, name := range b.Names() {
		if strings.EqualFold(path.Ext(name), ".opf") {
			return name
		}
	}
	return ""
}

// item is a file of the manifest.
type item struct{ name, mediaType, properties string }

func (b *book) readPackage(name string, data []byte) (*packageFile, error) {
	p := &packageFile{meta: map[string][]string{}}
	items := map[string]item{}
	var order, spine []string
	err := elements(data, func(e xml.StartElement, text func() string) {
		switch e.Name.Local {
		case "title", "creator", "language", "date", "publisher", "subject", "description", "identifier":
			if values := p.meta[e.Name.Local]; len(values) < maxValues {
				p.meta[e.Name.Local] = append(values, text())
			}
		case "item":
			id := attr(e, "id")
			items[id] = item{resolve(name, attr(e, "href")), attr(e, "media-type"), attr(e, "properties")}
			order = append(order, id)
		case "spine":
			p.ncx = attr(e, "toc")
		case "itemref":
			spine = append(spine, attr(e, "idref"))
		}
	})
	p.ncx = items[p.ncx].name
	for _, it := range items {
		switch {
		case strings.Contains(" "+it.properties+" ", " nav "):
			p.nav = it.name
		case p.ncx == "" && it.mediaType == "application/x-dtbncx+xml":
			p.ncx = it.name
		}
	}
	for _, ids := range [][]string{spine, order} {
		if len(p.texts) == 0 {
			p.take(ids, items)
		}
	}
	if len(p.texts) == 0 {
		return nil, errors.Join(errXML, err)
	}
	return p, nil
}

// take takes the texts of the given items, each once, without the navigation.
func (p *packageFile) take(ids []string, items map[string]item) {
	seen := map[string]bool{p.nav: true, "": true}
	for _, id := range ids {
		it := items[id]
		if !seen[it.name] && isText(it.mediaType, it.name) && len(p.texts) < maxTexts {
			p.texts = append(p.texts, it.name)
		}
		seen[it.name] = true
	}
}

// describe tells the title and the properties.
func (p *packageFile) describe(out doc.Sink) {
	first := func(name string) string {
		if values := p.meta[name]; len(values) > 0 {
			return values[0]
		}
		return ""
	}
	out.Title(first("title"))
	out.Property("author", strings.Join(p.meta["creator"], "; "))
	out.Property("language", first("language"))
	out.Property("publisher", first("publisher"))
	out.Property("description", first("description"))
	out.Property("identifier", first("identifier"))
	out.Property("keywords", p.meta["subject"])
	date := strings.TrimSpace(first("date"))
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, date); err == nil {
			if t.Year() < 1000 { // the year 101 is how some say that they know none
				return
			}
			out.Property("created", t.UTC().Format(time.RFC3339))
			return
		}
	}
	out.Property("published", date) // a year, mostly
}

// locked says that a text is encrypted. Encrypted fonts do not matter.
func (b *book) locked(p *packageFile) bool {
	data, err := b.ReadAll("META-INF/encryption.xml", maxPackage)
	if err != nil {
		return false
	}
	texts := map[string]bool{}
	for _, name := range p.texts {
		texts[name] = true
	}
	locked := false
	_ = elements(data, func(e xml.StartElement, _ func() string) {
		if e.Name.Local == "CipherReference" && texts[resolve("", attr(e, "URI"))] {
			locked = true
		}
	})
	return locked
}

// resolve returns the entry that a reference in the entry from means, "" for
// what is outside of the file.
func resolve(from, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	if href == "" || strings.Contains(href, "://") {
		return ""
	}
	name := path.Join(path.Dir(from), strings.ReplaceAll(href, `\`, "/"))
	name = strings.TrimPrefix(name, "/")
	if name == ".." || strings.HasPrefix(name, "../") {
		return ""
	}
	return name
}

// elements hands over the elements of an XML file, each with a function that
// reads the text it holds and may be called before the next. What precedes an
// error is handed over.
func elements(data []byte, do func(e xml.StartElement, text func() string)) error {
	d := decoder(data)
	for depth := 0; depth < maxXML; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			do(t, func() string { return textOf(d, &depth) })
		case xml.EndElement:
			depth--
		}
	}
	return errXML
}

// textOf reads the text of the element that has just begun, to its end.
func textOf(d *xml.Decoder, depth *int) string {
	var out strings.Builder
	for outer := *depth - 1; *depth > outer && *depth < maxXML; {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.CharData:
			if out.Len()+len(t) <= maxValue {
				out.Write(t)
			}
		case xml.StartElement:
			*depth++
		case xml.EndElement:
			*depth--
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// decoder reads XML as leniently as books need it. Entities that a DTD defines
// are not known.
func decoder(data []byte) *xml.Decoder {
	d := xml.NewDecoder(strings.NewReader(string(data)))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		enc, err := htmlindex.Get(charset)
		if err != nil {
			return nil, fmt.Errorf("%w: charset %q", errXML, charset)
		}
		return enc.NewDecoder().Reader(r), nil
	}
	return d
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
