package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// keep makes a document of a page, or those of an archive. Twice does no harm:
// the same bytes, or the same URL, are one document.
func (c *crawling) keep(ctx context.Context, page fetch.Page) error {
	body := &download{from: page.Body}
	content, err := c.sniff(ctx, body)
	defer content.close()
	content.tag(page.Response)
	var document, left string
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return &webError{fmt.Errorf("store %s: %w", page.Address, err)}
	case err != nil:
	case content.archive:
		document, left, err = c.keepArchive(ctx, page, content)
	default:
		var done Submitted
		up := Upload{Name: page.Name, MIME: page.ContentType, Body: content, Metadata: c.given()}
		done, err = c.Submit(ctx, c.doc.KnowledgeBaseID, fromURL(up, page.Address))
		document = done.Document.ID
	}
	if body.err != nil {
		return &webError{fmt.Errorf("fetch %s: %w", page.Address, body.err)}
	}
	if err != nil {
		return err
	}
	a := c.fetchedNow(store.Address{KnowledgeBaseID: c.doc.KnowledgeBaseID, DocumentID: document, URL: page.Address, Refresh: c.order.Refresh}, page.Response)
	a.Error = left
	err = c.cfg.Records.PutAddress(ctx, a)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted at once
	}
	return err
}

// keepArchive makes documents of the files in an archive, as of one that is
// fetched alone. It returns the first of them, which is what the URL stands for
// from then on, and what was left out.
func (c *crawling) keepArchive(ctx context.Context, page fetch.Page, f *fetched) (document, left string, err error) {
	up := archiveFrom(page.Address, page.Response, c.given())
	all, _, err := c.Unpack(ctx, c.doc.KnowledgeBaseID, up, f.file, f.size)
	if err != nil {
		return "", "", err
	}
	left = strings.TrimPrefix(leftOut(all), ": ")
	for _, one := range all {
		if one.Err == nil {
			return one.DocumentID, left, nil
		}
	}
	return "", "", &webError{fmt.Errorf("nothing in the archive was taken: %s", left)}
}

// given is what was said of the pages when the crawl was ordered.
func (c *crawling) given() store.Metadata { return c.doc.GivenMetadata }
