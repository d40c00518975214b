package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ragagent/ingest/fetch"
	"ragagent/store"
)

// MinRefresh is the shortest time between two fetches of a URL.
const MinRefresh = 5 * time.Minute

// maxRefresh keeps a typing mistake from meaning never.
const maxRefresh = 366 * 24 * time.Hour

// URLOrder is a URL that is to become a document.
type URLOrder struct {
	URL      string
	Title    string // "" lets the parser find one
	Metadata store.Metadata
	Refresh  time.Duration // between two fetches, at least MinRefresh; 0 fetches once
	Crawl    *CrawlOrder   // the pages of the site too; may be nil
}

// CrawlOrder says which pages beside the first; zero values are those of
// fetch.CrawlRequest.
type CrawlOrder struct {
	MaxPages      int    `json:"max_pages,omitempty"`
	MaxDepth      int    `json:"max_depth,omitempty"`
	IncludePrefix string `json:"include_prefix,omitempty"`
	UseSitemap    bool   `json:"use_sitemap,omitempty"`
}

// order is the original of a document that has not been fetched: with it, the
// job is durable as every other, and says by itself what is to be done.
type order struct {
	URL     string        `json:"url"`
	Refresh time.Duration `json:"refresh,omitempty"`
	Crawl   *CrawlOrder   `json:"crawl,omitempty"`
}

// maxOrder bounds one that is read, in bytes.
const maxOrder = 64 << 10

// SubmitURL accepts a URL: when it returns without an error, the job is on the
// disk, and fetches what the URL leads to before it goes on as that of any
// upload. A URL that the knowledge base has is fetched again, now or after the
// fetch that is under way, without a job of its own; Submitted has the document's latest. store.ErrNotFound,
// store.ErrInvalid with the field, store.ErrConflict for the crawl of a page
// that is a document already, store.ErrTooLarge, store.ErrFull,
// *QuarantineError.
func (s *Service) SubmitURL(ctx context.Context, idOrName string, in URLOrder) (Submitted, error) {
	page, name, err := s.checkOrder(in)
	if err != nil {
		return Submitted{}, err
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return Submitted{}, err
	}
	known, err := s.cfg.Records.Address(ctx, kb.ID, page)
	if err == nil {
		return s.askAgain(ctx, known, in)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return Submitted{}, err
	}
	original, err := json.Marshal(order{URL: page, Refresh: in.Refresh, Crawl: in.Crawl})
	if err != nil {
		return Submitted{}, err
	}
	up := Upload{Name: name, Title: in.Title, MIME: "application/json", Body: strings.NewReader(string(original)), Metadata: in.Metadata}
	how := arrival{kind: store.JobFetch}
	if in.Crawl != nil {
		how.kind = store.JobCrawl
	}
	done, err := s.submitAs(ctx, kb.ID, fromURL(up, page), how)
	if err != nil {
		return done, err
	}
	err = s.cfg.Records.PutAddress(ctx, store.Address{KnowledgeBaseID: kb.ID, DocumentID: done.Document.ID, URL: page, Refresh: in.Refresh})
	if errors.Is(err, store.ErrNotFound) {
		err = nil // fetched meanwhile, and a duplicate, or deleted
	}
	s.nudgeFetch()
	return done, err
}

func (s *Service) checkOrder(in URLOrder) (page, name string, err error) {
	if s.cfg.Fetcher == nil {
		return "", "", store.Invalid("url", "this server does not fetch")
	}
	page, name, err = fetch.Normalize(in.URL)
	if err != nil {
		return "", "", store.Invalid("url", "%s", strings.TrimPrefix(err.Error(), fetch.ErrInvalid.Error()+": "))
	}
	if err := checkRefresh(in.Refresh); err != nil {
		return "", "", err
	}
	if c := in.Crawl; c != nil {
		switch {
		case c.MaxPages < 0 || c.MaxPages > fetch.MaxCrawlPages:
			return "", "", store.Invalid("crawl.max_pages", "must be 1 to %d", fetch.MaxCrawlPages)
		case c.MaxDepth < -1 || c.MaxDepth > 100:
			return "", "", store.Invalid("crawl.max_depth", "must be 1 to 100, or -1 to follow no links")
		case c.IncludePrefix != "" && !strings.HasPrefix(c.IncludePrefix, "/") || len(c.IncludePrefix) > 1024:
			return "", "", store.Invalid("crawl.include_prefix", "must be the beginning of a path, as /docs/")
		}
	}
	return page, name, nil
}

func checkRefresh(every time.Duration) error {
	if every != 0 && (every < MinRefresh || every > maxRefresh) {
		return store.Invalid("refresh", "must be at least %s and at most a year", shortTime(MinRefresh))
	}
	return nil
}

func shortTime(d time.Duration) string {
	return strings.TrimSuffix(d.String(), "0s")
}

// askAgain answers a URL that is a document.
func (s *Service) askAgain(ctx context.Context, known store.Address, in URLOrder) (Submitted, error) {
	doc, err := s.cfg.Records.Document(ctx, known.KnowledgeBaseID, known.DocumentID)
	if err != nil {
		return Submitted{}, err
	}
	if err := validMetadata(in.Metadata); err != nil {
		return Submitted{}, err
	}
	if err := s.takeOver(ctx, &doc, in.Metadata); err != nil {
		return Submitted{}, err
	}
	latest, err := s.cfg.Records.LatestJobs(ctx, []string{doc.ID})
	if err != nil {
		return Submitted{}, err
	}
	out := Submitted{Document: doc, Job: latest[doc.ID], DuplicateOf: doc.ID}
	if in.Crawl != nil && known.FetchedAt.IsZero() && out.Job.Kind != store.JobCrawl || in.Crawl != nil && !known.FetchedAt.IsZero() {
		return out, fmt.Errorf("%w: %s is document %s already: delete it and crawl then, or begin at another page", store.ErrConflict, known.URL, doc.ID)
	}
	if !known.FetchedAt.IsZero() {
		_, err = s.cfg.Records.UpdateAddress(ctx, known.KnowledgeBaseID, known.URL, func(a *store.Address) {
			a.NextAt = s.cfg.Now()
			if in.Refresh != 0 {
				a.Refresh = in.Refresh
			}
		})
		s.nudgeFetch()
		return out, err
	}
	if out.Job.Status == store.StatusRunning { // what is on its way may be what the page was before
		_, err = s.cfg.Records.UpdateAddress(ctx, known.KnowledgeBaseID, known.URL, func(a *store.Address) { a.NextAt = s.cfg.Now() })
		return out, err
	}
	if out.Job.Status == store.StatusFailed || out.Job.Status == store.StatusCancelled {
		if out.Job, err = s.Retry(ctx, out.Job.ID); err != nil {
			return out, err
		}
		out.Document.Status, out.Document.Error = out.Job.Status, ""
	}
	return out, nil
}

// Refresh fetches a document's URL now. store.ErrNotFound; store.ErrConflict if
// it has none, or was not fetched yet.
func (s *Service) Refresh(ctx context.Context, idOrName, documentID string) (store.Address, error) {
	return s.changeAddress(ctx, idOrName, documentID, func(a *store.Address) { a.NextAt = s.cfg.Now() })
}

// SetRefresh changes how often a document's URL is fetched, 0 for never again.
// store.ErrInvalid, and the errors of Refresh.
func (s *Service) SetRefresh(ctx context.Context, idOrName, documentID string, every time.Duration) (store.Address, error) {
	if err := checkRefresh(every); err != nil {
		return store.Address{}, err
	}
	return s.changeAddress(ctx, idOrName, documentID, func(a *store.Address) {
		a.Refresh, a.NextAt = every, time.Time{}
		if every > 0 {
			a.NextAt = a.FetchedAt.Add(every)
		}
	})
}

func (s *Service) changeAddress(ctx context.Context, idOrName, documentID string, change func(*store.Address)) (store.Address, error) {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return store.Address{}, err
	}
	if _, err := s.cfg.Records.Document(ctx, kb.ID, documentID); err != nil {
		return store.Address{}, err
	}
	known, err := s.cfg.Records.DocumentAddresses(ctx, []string{documentID})
	if err != nil {
		return store.Address{}, err
	}
	a, ok := known[documentID]
	switch {
	case !ok:
		return a, fmt.Errorf("%w: the document does not come from a URL", store.ErrConflict)
	case a.FetchedAt.IsZero():
		return a, fmt.Errorf("%w: the document has not been fetched yet: its job does that", store.ErrConflict)
	}
	a, err = s.cfg.Records.UpdateAddress(ctx, kb.ID, a.URL, change)
	s.nudgeFetch()
	return a, err
}

// orderOf reads what a document waits for.
func (s *Service) orderOf(ctx context.Context, doc store.Document) (o order, err error) {
	blob, err := s.cfg.Blobs.Open(ctx, doc.SHA256)
	if err != nil {
		return o, fmt.Errorf("read what is to be fetched: %w", err)
	}
	defer blob.Close()
	raw, err := io.ReadAll(io.NewSectionReader(blob, 0, min(blob.Size(), maxOrder)))
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		return o, fmt.Errorf("read what is to be fetched: %w", err)
	}
	return o, nil
}

// originURL is the origin of sources that are URLs.
const originURL = "url"

// fromURL says of an upload that it comes from a URL. One that is too long for
// the path of a source is shortened to one that is as unique.
func fromURL(up Upload, page string) Upload {
	up.Origin, up.Path = originURL, page
	if len(page) > store.MaxPath {
		sum := sha256.Sum256([]byte(page))
		up.Path = page[:store.MaxPath-2*len(sum)-1] + "#" + hex.EncodeToString(sum[:])
	}
	return up
}
