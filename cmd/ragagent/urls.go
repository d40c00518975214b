package main

import (
	"context"
	"net/url"
	"strings"
)

// crawlFlags say what to add of the URLs given to the ingest command.
type crawlFlags struct {
	Crawl    bool   `help:"Add the pages of the site that a URL leads to, too."`
	MaxPages int    `name:"max-pages" help:"Pages of one crawl; 100 if not given." placeholder:"N"`
	MaxDepth int    `name:"max-depth" help:"Links that a page of a crawl may be away from the first; 3 if not given." placeholder:"N"`
	Refresh  string `help:"Fetch the URLs again this often while a server runs, as 24h." placeholder:"TIME"`
}

func isURL(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

type urlUpload struct {
	URL     string      `json:"url"`
	Refresh string      `json:"refresh,omitempty"`
	Crawl   *crawlOrder `json:"crawl,omitempty"`
}

type crawlOrder struct {
	MaxPages int `json:"max_pages,omitempty"`
	MaxDepth int `json:"max_depth,omitempty"`
}

// order is what to ask the server for.
func (f crawlFlags) order(page string) *urlUpload {
	out := &urlUpload{URL: page, Refresh: f.Refresh}
	if f.Crawl {
		out.Crawl = &crawlOrder{MaxPages: f.MaxPages, MaxDepth: f.MaxDepth}
	}
	return out
}

// addURL lets the server fetch a URL.
func (c *client) addURL(ctx context.Context, kb string, order urlUpload) ([]submitted, error) {
	var out struct {
		Documents []submitted `json:"documents"`
	}
	err := c.post(ctx, "/api/v1/knowledge-bases/"+url.PathEscape(kb)+"/documents", order, &out)
	return out.Documents, err
}
