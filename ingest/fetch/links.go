package fetch

import (
	"bytes"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pageInfo is what a crawl wants to know of an HTML page.
type pageInfo struct {
	links     []*url.URL // in the page's order, without those marked nofollow
	canonical *url.URL   // nil where the page names none
	noIndex   bool
	noFollow  bool
}

const maxLinks = 10_000 // of one page

// readPage finds the links of a page and what it tells robots, in its header
// and in its text.
func readPage(data []byte, base *url.URL, header http.Header, product string) pageInfo {
	var p pageInfo
	for _, line := range header.Values("X-Robots-Tag") {
		agent, directives, named := strings.Cut(line, ":")
		if !named {
			p.obey(line)
		} else if strings.EqualFold(strings.TrimSpace(agent), product) {
			p.obey(directives)
		}
	}
	tokens := html.NewTokenizer(bytes.NewReader(data))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: data are in memory
			return p
		case html.StartTagToken, html.SelfClosingTagToken:
			base = p.tag(tokens, base, product)
		}
	}
}

// tag reads one tag and returns the base of the links behind it.
func (p *pageInfo) tag(tokens *html.Tokenizer, base *url.URL, product string) *url.URL {
	name, more := tokens.TagName()
	tag := atom.Lookup(name)
	switch tag {
	case atom.A, atom.Area, atom.Base, atom.Link, atom.Meta:
	default:
		return base
	}
	var href, rel, metaName, content string
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch string(key) {
		case "href":
			href = string(value)
		case "rel":
			rel = strings.ToLower(string(value))
		case "name":
			metaName = string(value)
		case "content":
			content = string(value)
		}
	}
	switch tag {
	case atom.Meta:
		if strings.EqualFold(metaName, "robots") || strings.EqualFold(metaName, product) {
			p.obey(content)
		}
	case atom.Base:
		if u, err := resolve(base, href); err == nil && href != "" {
			return u
		}
	case atom.Link:
		if u, err := resolve(base, href); err == nil && href != "" && hasWord(rel, "canonical") {
			p.canonical = u
		}
	case atom.A, atom.Area:
		p.link(base, href, rel)
	}
	return base
}

func (p *pageInfo) link(base *url.URL, href, rel string) {
	if href == "" || strings.HasPrefix(href, "#") || len(p.links) >= maxLinks || hasWord(rel, "nofollow") {
		return
	}
	if u, err := resolve(base, href); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		p.links = append(p.links, u)
	}
}

// obey takes the directives of a robots tag.
func (p *pageInfo) obey(directives string) {
	for d := range strings.SplitSeq(strings.ToLower(directives), ",") {
		switch strings.TrimSpace(d) {
		case "noindex":
			p.noIndex = true
		case "nofollow":
			p.noFollow = true
		case "none":
			p.noIndex, p.noFollow = true, true
		}
	}
}

func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// isAsset says that a link's name is that of a file which is never a document.
func isAsset(u *url.URL) bool {
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp", ".css", ".js", ".mjs", ".map",
		".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4", ".webm", ".ogg", ".wav", ".avi", ".mov", ".mkv",
		".exe", ".dmg", ".msi", ".deb", ".rpm", ".iso", ".apk", ".wasm":
		return true
	}
	return false
}
