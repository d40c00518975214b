package parse

import (
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ragagent/store"
)

// htmlMeta is what a page says about itself. Of things said twice the first
// counts.
type htmlMeta struct {
	title  string
	values map[string]string // by the names below
}

// metaNames gives the names that pages use for one thing, the best ones first.
var metaNames = []struct {
	name string
	of   []string
}{
	{"title", []string{"og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title"}},
	{"description", []string{"description", "og:description", "twitter:description", "dc.description"}},
	{"author", []string{"author", "article:author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "byl"}},
	{"date", []string{"article:published_time", "datepublished", "date", "citation_publication_date", "dc.date", "dcterms.created", "dc.date.issued", "pubdate", "time"}},
	{"modified", []string{"article:modified_time", "datemodified", "og:updated_time", "last-modified", "dcterms.modified"}},
	{"language", []string{"lang", "content-language", "og:locale", "dc.language"}},
	{"canonical", []string{"canonical", "og:url"}},
	{"site", []string{"og:site_name", "application-name"}},
	{"keywords", []string{"keywords", "news_keywords", "article:tag"}},
}

// maxMeta bounds one value, in bytes.
const maxMeta = 2000

// element takes what an element says of the page.
func (m *htmlMeta) element(tag atom.Atom, a attributes) {
	switch tag {
	case atom.Html:
		m.put("lang", a.lang)
	case atom.Meta:
		m.put(a.name, a.content)
	case atom.Link:
		if strings.EqualFold(a.rel, "canonical") {
			m.put("canonical", a.href)
		}
	case atom.Time:
		if a.itemprop == "datePublished" || a.pubdate {
			m.put("time", a.datetime)
		}
	}
}

func (m *htmlMeta) put(name, value string) {
	name = strings.ToLower(name)
	value = strings.Join(strings.Fields(value), " ")
	if value == "" || len(value) > maxMeta || len(m.values) >= 200 || strings.HasPrefix(value, "http") && name == "article:author" {
		return
	}
	if m.values[name] == "" {
		m.values[name] = value
	}
}

// result returns the title and the properties. Dates that can be read are
// told once more in the form that dates have everywhere.
func (m *htmlMeta) result() (title string, meta store.Metadata) {
	meta = store.Metadata{}
	for _, n := range metaNames {
		for _, of := range n.of {
			if v := m.values[of]; v != "" {
				meta[n.name] = v
				break
			}
		}
	}
	title = strings.Join(strings.Fields(m.title), " ")
	if other, _ := meta["title"].(string); title == "" {
		title = other
	}
	delete(meta, "title")
	if keywords, ok := meta["keywords"].(string); ok {
		meta["keywords"] = splitList(keywords)
	}
	if date, ok := timestamp(meta["date"]); ok {
		meta["created"] = date
	}
	if date, ok := timestamp(meta["modified"]); ok {
		meta["modified"] = date
	} else {
		delete(meta, "modified")
	}
	return title, meta
}

// timestamp brings a date to RFC 3339.
func timestamp(v any) (string, bool) {
	s, _ := v.(string)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05.000Z0700", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02", "2006/01/02", "2006/1/2", time.RFC1123, time.RFC1123Z, "January 2, 2006", "2 January 2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Format(time.RFC3339), true
		}
	}
	return "", false
}

func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// attributes are those that matter here.
type attributes struct {
	name, content, role, lang, class, id, alt, rel, href, itemprop, datetime string
	colspan, rowspan                                                         int
	hidden, pubdate                                                          bool
}

// maxAttributes bounds what is read of one tag.
const maxAttributes = 64

func readAttributes(z *html.Tokenizer) attributes {
	var a attributes
	for range maxAttributes {
		key, value, more := z.TagAttr()
		a.set(string(key), string(value))
		if !more {
			break
		}
	}
	return a
}

func (a *attributes) set(key, value string) {
	switch key {
	case "name", "property", "http-equiv":
		a.name = value
	case "itemprop":
		a.itemprop = value
		if a.name == "" {
			a.name = value
		}
	case "content":
		a.content = value
	case "role":
		a.role = strings.ToLower(strings.TrimSpace(value))
	case "lang", "xml:lang":
		a.lang = value
	case "class":
		a.class = value
	case "id":
		a.id = value
	case "alt":
		a.alt = value
	case "rel":
		a.rel = value
	case "href":
		a.href = value
	case "datetime":
		a.datetime = value
	case "pubdate":
		a.pubdate = true
	case "colspan":
		a.colspan = smallNumber(value)
	case "rowspan":
		a.rowspan = smallNumber(value)
	case "hidden":
		a.hidden = true
	case "aria-hidden":
		a.hidden = a.hidden || value == "true"
	case "style":
		style := strings.Join(strings.Fields(strings.ToLower(value)), "")
		a.hidden = a.hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
	}
}

// smallNumber reads how many columns or rows a cell spans; 0 for nonsense.
func smallNumber(s string) int {
	n := 0
	for _, c := range strings.TrimSpace(s) {
		if c < '0' || c > '9' || n > 1000 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}
