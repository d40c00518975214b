package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
)

// CrawlRequest says which pages of a site to fetch.
type CrawlRequest struct {
	URL string // where to begin; its host, after redirects, is the site
	// MaxPages bounds the pages that are told without an error; 100,
	// at most 20,000. Three times as many and 100 are asked for at most.
	MaxPages int
	// MaxDepth is how many links a page may be away from the first, or from
	// one of the sitemap; 3. Negative: links are not followed.
	MaxDepth int
	// IncludePrefix is what the paths of other pages have to begin with, as
	// "/docs/"; "" is the whole site.
	IncludePrefix string
	// UseSitemap adds the pages that the site lists itself.
	UseSitemap bool
	// Known lets a crawl go on that was cut off: what its pages told, in order.
	Known []KnownPage
}

// KnownPage is what a crawl that was cut off knew of a page: that it was to be
// asked for (Page.Found), or that it was (Page.Address).
type KnownPage struct {
	URL     string
	Depth   int
	Asked   bool
	Kept    bool   // it was told without an error
	Content string // Page.Digest
}

// Page is one page of a crawl.
type Page struct {
	*Response        // nil if Err is set; its Body is closed when the crawl goes on
	Address   string // the URL that was asked for
	Depth     int
	// Found are the pages that this one added to those that wait.
	Found []KnownPage
	// Digest stands for the content of an HTML page; "" for other files.
	Digest string
	// Err says why there is no content: an error of Fetch, or one of the
	// following. The crawl goes on.
	Err error
}

// Why a page of a crawl is not told.
var (
	// ErrNoIndex says that the page asks not to be indexed.
	ErrNoIndex = errors.New("left out: the page asks not to be indexed")
	// ErrDuplicate says that another page of the crawl is this one.
	ErrDuplicate = errors.New("left out: the same as another page")
)

// MaxCrawlPages bounds the pages of one crawl.
const MaxCrawlPages = 20_000

const (
	maxWaiting    = 50_000  // pages
	maxPageBytes  = 8 << 20 // of an HTML page in which links are looked for
	maxRetryAfter = time.Minute
)

// Crawl fetches the pages of one site, breadth first: one request at a time,
// with Config.Delay between them. Pages are told once, by their URL after
// redirects and by their content; a canonical link on the same site is
// followed in the page's stead. What asks not to be indexed, or its links not
// to be followed, is obeyed, as is robots.txt.
//
// An error is told last, with a Page that has none of its fields: that of the
// first page, or ctx's. Memory: 50 bytes for a URL that is known, up to 2 kB
// for one that waits, at most ten times MaxPages and 1,000 or 50,000 of them,
// and a page of up to 8 MiB.
func (f *Fetcher) Crawl(ctx context.Context, req CrawlRequest) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		c := newCrawl(f, req, yield)
		err := c.run(ctx)
		if err != nil && !errors.Is(err, errStopped) {
			yield(Page{}, fmt.Errorf("crawl %s: %w", shownURL(req.URL), err))
		}
	}
}

var errStopped = errors.New("stopped")

// crawl is the state of one.
type crawl struct {
	f     *Fetcher
	req   CrawlRequest
	yield func(Page, error) bool

	site    *url.URL // after the first page's redirects
	queue   []visit
	known   map[digest]struct{} // URLs that were queued or told
	content map[digest]struct{} // of HTML pages
	asked   int
	told    int
	found   []KnownPage         // since the last page that was told
	digest  string              // of the page that is read
	last    time.Time           // of the last request
	lost    map[digest]struct{} // pages told without content
	copies  map[digest]visit    // by the canonical page they were left out for
}

// visit is a page that waits to be asked for.
type visit struct {
	url   string
	depth int
	again bool // the server asked to come back later
	plain bool // the page's canonical link leads nowhere
}

type digest [16]byte

func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest(sum[:16])
}

func newCrawl(f *Fetcher, req CrawlRequest, yield func(Page, error) bool) *crawl {
	if req.MaxPages <= 0 {
		req.MaxPages = 100
	}
	req.MaxPages = min(req.MaxPages, MaxCrawlPages)
	if req.MaxDepth == 0 {
		req.MaxDepth = 3
	}
	return &crawl{f: f, req: req, yield: yield, known: map[digest]struct{}{}, content: map[digest]struct{}{},
		lost: map[digest]struct{}{}, copies: map[digest]visit{}}
}

func (c *crawl) run(ctx context.Context) error {
	start, err := parseURL(c.req.URL)
	if err != nil {
		return err
	}
	if c.resume(); len(c.known) == 0 {
		c.add(start, 0)
	}
	for len(c.queue) > 0 && c.told < c.req.MaxPages && c.asked < 3*c.req.MaxPages+100 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		if err := c.visit(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// resume takes up what an earlier crawl knew. All pages that wait are of one
// site.
func (c *crawl) resume() {
	for _, p := range c.req.Known {
		u, err := parseURL(p.URL)
		if err != nil {
			continue
		}
		c.isNew(u.String())
		if !p.Asked {
			c.site = u
			c.queue = append(c.queue, visit{url: u.String(), depth: p.Depth})
			continue
		}
		c.asked++
		if p.Kept {
			c.told++
		}
		if key, err := hex.DecodeString(p.Content); err == nil && len(key) == len(digest{}) {
			c.content[digest(key)] = struct{}{}
		}
	}
}

// visit asks for one page and tells it. An error ends the crawl.
func (c *crawl) visit(ctx context.Context, v visit) error {
	u, err := parseURL(v.url)
	if err != nil {
		return err
	}
	if err := c.wait(ctx, u); err != nil {
		return err
	}
	c.asked++
	c.digest = ""
	first := c.site == nil
	resp, err := c.f.fetch(ctx, Request{URL: v.url}, c.onSite)
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case first:
			return err
		case c.later(ctx, v, err):
			return ctx.Err()
		}
		return c.tell(Page{Address: v.url, Depth: v.depth, Err: err})
	}
	defer resp.Body.Close()
	if first {
		if c.site, err = parseURL(resp.URL); err != nil {
			return err
		}
	}
	err = c.read(resp, v)
	if first && c.req.UseSitemap && ctx.Err() == nil {
		if err := c.addSitemap(ctx); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.tell(Page{Address: v.url, Depth: v.depth, Err: err})
	}
	return c.tell(Page{Response: resp, Address: v.url, Depth: v.depth})
}

func (c *crawl) tell(p Page) error {
	if p.Err == nil {
		c.told++
	} else {
		c.lose(p)
	}
	p.Found, p.Digest, c.found = c.found, c.digest, nil
	if !c.yield(p, nil) {
		return errStopped
	}
	return nil
}

// lose remembers that a page has no content, and takes up the one that was left
// out in its favour.
func (c *crawl) lose(p Page) {
	key := digestOf([]byte(p.Address))
	c.lost[key] = struct{}{}
	if copied, ok := c.copies[key]; ok {
		delete(c.copies, key)
		copied.plain = true
		c.queue = append(c.queue, copied)
	}
}

// addSitemap queues the pages that the site lists.
func (c *crawl) addSitemap(ctx context.Context) error {
	return c.f.sitemapPages(ctx, c.site, func(page string) bool {
		if u, err := parseURL(page); err == nil {
			c.add(u, 0)
		}
		return len(c.queue) < c.maxQueue()
	})
}

func (c *crawl) maxQueue() int { return min(10*c.req.MaxPages+1000, maxWaiting) }

// add queues a page that is new, of this site and wanted.
func (c *crawl) add(u *url.URL, depth int) {
	if c.site != nil && !c.wanted(u) || len(c.queue) >= c.maxQueue() || len(c.known) >= 20*c.maxQueue() {
		return
	}
	if c.isNew(u.String()) {
		c.queue = append(c.queue, visit{url: u.String(), depth: depth})
		c.found = append(c.found, KnownPage{URL: u.String(), Depth: depth})
	}
}

// isNew says that a URL was not known, and knows it from now on.
func (c *crawl) isNew(u string) bool {
	key := digestOf([]byte(u))
	_, known := c.known[key]
	c.known[key] = struct{}{}
	return !known
}

func (c *crawl) wanted(u *url.URL) bool {
	return c.onSite(u) == nil && strings.HasPrefix(u.Path, c.req.IncludePrefix) && !isAsset(u)
}

// onSite refuses what is not of the site: another host or port. http and https
// at their own ports are one site.
func (c *crawl) onSite(u *url.URL) error {
	if c.site == nil || u.Host == c.site.Host {
		return nil
	}
	return &RefusedError{Rule: RuleSite, What: u.Host + " is not the site that is crawled"}
}

// read looks into a response: is it new, may it be told, where does it lead.
func (c *crawl) read(resp *Response, v visit) error {
	if resp.URL != v.url && !c.isNew(resp.URL) {
		return fmt.Errorf("%w: %s", ErrDuplicate, shownURL(resp.URL))
	}
	at, err := parseURL(resp.URL)
	if err != nil {
		return err
	}
	var data []byte
	if resp.ContentType == "text/html" || resp.ContentType == "application/xhtml+xml" {
		if data, err = io.ReadAll(io.LimitReader(resp.Body, maxPageBytes)); err != nil {
			return err
		}
		resp.Body = rest{io.MultiReader(bytes.NewReader(data), resp.Body), resp.Body}
	}
	page := readPage(data, at, resp.header, c.f.product)
	if page.noFollow {
		page.links = nil
	}
	if v.depth < c.req.MaxDepth {
		for _, link := range page.links {
			c.add(link, v.depth+1)
		}
	}
	if page.noIndex {
		return ErrNoIndex
	}
	if to := page.canonical; to != nil && !v.plain && c.isCopy(resp, v, to) {
		return fmt.Errorf("%w: %s", ErrDuplicate, shownURL(to.String()))
	}
	return c.isNewContent(data)
}

// isCopy leaves a page out in favour of its canonical one, unless that has
// turned out to be nothing, or to name this one in turn.
func (c *crawl) isCopy(resp *Response, v visit, to *url.URL) bool {
	target := digestOf([]byte(to.String()))
	if _, lost := c.lost[target]; lost || to.String() == resp.URL || !c.wanted(to) {
		return false
	}
	c.add(to, v.depth)
	c.copies[target] = visit{url: resp.URL, depth: v.depth}
	return true
}

func (c *crawl) isNewContent(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	key := digestOf(data)
	if _, twice := c.content[key]; twice {
		return ErrDuplicate
	}
	c.content[key] = struct{}{}
	c.digest = hex.EncodeToString(key[:])
	return nil
}

// rest is a body whose beginning was read already.
type rest struct {
	io.Reader
	io.Closer
}

// wait keeps the distance between requests that the site and we want.
func (c *crawl) wait(ctx context.Context, u *url.URL) error {
	delay := max(c.f.cfg.Delay, 0)
	if r, err := c.f.robotsOf(ctx, u); err == nil { // if not, the fetch says why
		delay = max(delay, r.delay)
	}
	now := c.f.cfg.Now()
	if passed := now.Sub(c.last); !c.last.IsZero() && passed < delay {
		if err := c.f.cfg.Sleep(ctx, delay-passed); err != nil {
			return err
		}
		now = c.f.cfg.Now()
	}
	c.last = now
	return ctx.Err()
}

// later waits as long as a server asks for, and takes the page up again, once.
func (c *crawl) later(ctx context.Context, v visit, err error) bool {
	var status *StatusError
	if v.again || !errors.As(err, &status) || !Temporary(err) || status.RetryAfter > maxRetryAfter {
		return false
	}
	v.again = true
	c.queue = append(c.queue, v)
	if status.RetryAfter > 0 {
		_ = c.f.cfg.Sleep(ctx, status.RetryAfter) // its error is ctx's, which the caller looks at
	}
	return true
}
