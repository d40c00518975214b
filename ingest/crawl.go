package ingest

import (
	"context"
	"errors"
	"fmt"

	"ragagent/ingest/fetch"
	"ragagent/store"
)

// crawl makes documents of a site's pages, but of the first, which is the job's
// own document and is fetched as such when the others are done. What was asked
// for is written down page by page: an attempt that was cut off goes on there.
func (t *task) crawl(ctx context.Context) error {
	doc, err := t.cfg.Records.Document(ctx, t.job.KnowledgeBaseID, t.job.DocumentID)
	if err != nil {
		return err
	}
	order, err := t.orderOf(ctx, doc)
	if err != nil {
		return err
	}
	if order.Crawl == nil {
		return errors.New("read what is to be crawled: it is not said")
	}
	pages, err := t.cfg.Records.CrawlPages(ctx, t.job.ID)
	if err != nil {
		return err
	}
	req := fetch.CrawlRequest{URL: order.URL, MaxPages: order.Crawl.MaxPages, MaxDepth: order.Crawl.MaxDepth,
		IncludePrefix: order.Crawl.IncludePrefix, UseSitemap: order.Crawl.UseSitemap}
	c := &crawling{task: t, doc: doc, order: order}
	for _, p := range pages {
		c.count(p)
		req.Known = append(req.Known, fetch.KnownPage(p))
	}
	c.tell()
	for page, err := range t.cfg.Fetcher.Crawl(ctx, req) {
		if err != nil {
			return &webError{err}
		}
		if err := c.page(ctx, page); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.failed > 0 {
		t.cfg.Log.Warn("pages of a crawl could not be fetched", "job", t.job.ID, "count", c.failed)
	}
	if err := t.cfg.Records.EndCrawl(ctx, t.job.ID); err != nil {
		return err
	}
	t.nudgeFetch()
	return nil
}

// crawling is one attempt at a crawl.
type crawling struct {
	*task
	doc    store.Document
	order  order
	asked  int
	known  int
	failed int
}

func (c *crawling) count(p store.CrawlPage) {
	c.known++
	if p.Asked {
		c.asked++
	}
}

// tell says how many pages were asked for, of those known so far.
func (c *crawling) tell() {
	c.report(store.Progress{Stage: store.StageFetch, Done: c.asked, Total: max(c.known, c.asked)})
}

// page takes one page and writes down what it led to.
func (c *crawling) page(ctx context.Context, page fetch.Page) error {
	first := page.Address == c.order.URL
	kept := page.Err == nil
	if kept && !first {
		if err := c.keep(ctx, page); err != nil {
			var web *webError
			if !errors.As(err, &web) {
				return err
			}
			kept, page.Err = false, err
		}
	}
	if page.Err != nil && !errors.Is(page.Err, fetch.ErrNoIndex) && !errors.Is(page.Err, fetch.ErrDuplicate) {
		c.failed++
		c.cfg.Log.Warn("a page of a crawl was left out", "job", c.job.ID, "url", page.Address, "error", page.Err)
	}
	found := make([]store.CrawlPage, len(page.Found))
	for i, p := range page.Found {
		found[i] = store.CrawlPage(p)
	}
	err := c.cfg.Records.PutCrawlPages(ctx, c.job.ID, store.CrawlPage{URL: page.Address, Depth: page.Depth, Asked: true, Kept: kept, Content: page.Digest}, found)
	c.asked++
	c.known = max(c.known+len(found), c.asked)
	c.tell()
	return err
}

// keep makes a document of a page. Twice does no harm: the same bytes, or the
// same URL, are one document.
func (c *crawling) keep(ctx context.Context, page fetch.Page) error {
	body := &download{from: page.Body}
	up := Upload{Name: page.Name, MIME: page.ContentType, Body: body, Metadata: c.given()}
	done, err := c.Submit(ctx, c.doc.KnowledgeBaseID, fromURL(up, page.Address))
	if body.err != nil {
		return &webError{fmt.Errorf("fetch %s: %w", page.Address, body.err)}
	}
	if err != nil {
		return err
	}
	a := c.fetchedNow(store.Address{KnowledgeBaseID: c.doc.KnowledgeBaseID, DocumentID: done.Document.ID, URL: page.Address, Refresh: c.order.Refresh}, page.Response)
	err = c.cfg.Records.PutAddress(ctx, a)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted at once
	}
	return err
}

// given is what was said of the pages when the crawl was ordered.
func (c *crawling) given() store.Metadata { return c.doc.GivenMetadata }
