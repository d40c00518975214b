package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Bounds of a site's maps. Source: sitemaps.org, protocol 0.9, which allows
// 50,000 URLs and 50 MB in one file.
const (
	maxSitemapBytes = 50 << 20
	maxSitemapURLs  = 50_000
	maxSitemaps     = 50 // files, of one site
	maxXMLDepth     = 16
)

// sitemap is a file of URLs: of pages, or of other such files.
type sitemap struct{ pages, maps []string }

// sitemapPages tells the pages that the maps of a site list: those which
// robots.txt names, else /sitemap.xml. Files that cannot be read are left out;
// an error is ctx's.
func (f *Fetcher) sitemapPages(ctx context.Context, site *url.URL, tell func(string) bool) error {
	start := (&url.URL{Scheme: site.Scheme, Host: site.Host, Path: "/sitemap.xml"}).String()
	queue := []string{start}
	if r, err := f.robotsOf(ctx, site); err == nil && len(r.sitemaps) > 0 {
		queue = r.sitemaps
	}
	seen := map[string]bool{}
	for read := 0; len(queue) > 0 && read < maxSitemaps; read++ {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		m, err := f.fetchSitemap(ctx, at)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		for _, page := range m.pages {
			if !tell(page) {
				return nil
			}
		}
		queue = append(queue, m.maps[:min(len(m.maps), maxSitemaps)]...)
	}
	return nil
}

// fetchSitemap reads one file: XML or a URL a line, packed or not.
func (f *Fetcher) fetchSitemap(ctx context.Context, at string) (sitemap, error) {
	u, err := parseURL(at)
	if err != nil {
		return sitemap{}, err
	}
	ctx, stop := f.deadline(ctx)
	defer stop(nil)
	g := get{fetcher: f, url: u, maxBytes: maxSitemapBytes, redirects: f.cfg.MaxRedirects}
	resp, err := g.do(ctx, stop)
	if resp != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		return sitemap{}, err
	}
	if resp.Status != http.StatusOK {
		return sitemap{}, &StatusError{Status: resp.Status}
	}
	return readSitemap(resp.Body)
}

// readSitemap reads at most maxSitemapBytes and maxSitemapURLs. With an error,
// what stands before it is returned too.
func readSitemap(r io.Reader) (sitemap, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzip, err := gzip.NewReader(in)
		if err != nil {
			return sitemap{}, err
		}
		in = bufio.NewReader(io.LimitReader(unzip, maxSitemapBytes))
	}
	head, _ := in.Peek(512)
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(head, []byte("<")) {
		return readXMLSitemap(in)
	}
	var m sitemap
	lines := bufio.NewScanner(in)
	for lines.Scan() && len(m.pages) < maxSitemapURLs {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if strings.HasPrefix(line, "http") {
			m.pages = append(m.pages, line)
		}
	}
	return m, lines.Err()
}

// readXMLSitemap takes each <loc> directly below a <url> or <sitemap>.
func readXMLSitemap(r io.Reader) (sitemap, error) {
	var m sitemap
	var within []string
	var text strings.Builder
	tokens := xml.NewDecoder(r)
	tokens.Strict = false
	tokens.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // URLs are ASCII
	for len(m.pages)+len(m.maps) < maxSitemapURLs {
		token, err := tokens.RawToken()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(within) >= maxXMLDepth {
				return m, fmt.Errorf("elements are nested deeper than %d", maxXMLDepth)
			}
			within = append(within, t.Name.Local)
			text.Reset()
		case xml.CharData:
			if text.Len()+len(t) <= maxURL {
				text.Write(t)
			}
		case xml.EndElement:
			m.add(within, strings.TrimSpace(text.String()))
			within = within[:max(len(within)-1, 0)]
			text.Reset()
		}
	}
	return m, nil
}

// add takes the text of the element at the end of a path.
func (m *sitemap) add(within []string, text string) {
	n := len(within)
	if n < 2 || within[n-1] != "loc" || text == "" {
		return
	}
	switch within[n-2] {
	case "url":
		m.pages = append(m.pages, text)
	case "sitemap":
		m.maps = append(m.maps, text)
	}
}
