package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

// Addresses makes documents of URLs; ingest.Service implements it.
type Addresses interface {
	SubmitURL(ctx context.Context, kbIDOrName string, order ingest.URLOrder) (ingest.Submitted, error)
	Refresh(ctx context.Context, kbIDOrName, documentID string) (store.Address, error)
	SetRefresh(ctx context.Context, kbIDOrName, documentID string, every time.Duration) (store.Address, error)
}

// crawlRequest says which other pages of a site to add; see ingest.CrawlOrder.
type crawlRequest struct {
	MaxPages      int    `json:"max_pages"`
	MaxDepth      int    `json:"max_depth"`
	IncludePrefix string `json:"include_prefix"`
	UseSitemap    bool   `json:"use_sitemap"`
}

// addressAnswer is what is known of the URL that a document comes from.
type addressAnswer struct {
	URL       string     `json:"url"`
	FinalURL  string     `json:"final_url,omitempty"`
	ETag      string     `json:"etag,omitempty"`
	FetchedAt *time.Time `json:"fetched_at"`
	Refresh   string     `json:"refresh,omitempty"`
	NextAt    *time.Time `json:"next_at"`
	GoneSince *time.Time `json:"gone_since,omitempty"`
	Error     string     `json:"error,omitempty"`
}

func addressOf(a store.Address) *addressAnswer {
	out := &addressAnswer{URL: a.URL, FinalURL: a.FinalURL, ETag: a.ETag, Error: a.Error,
		FetchedAt: timeOrNull(a.FetchedAt), NextAt: timeOrNull(a.NextAt), GoneSince: timeOrNull(a.GoneSince)}
	if a.Refresh > 0 {
		out.Refresh = a.Refresh.String()
	}
	return out
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// addURL takes the URL of a page, a file or a site.
func (s *Server) addURL(c echo.Context, kb store.KnowledgeBase, in textRequest, body []byte) error {
	order, err := s.orderOf(in)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		done, err := s.cfg.Addresses.SubmitURL(c.Request().Context(), kb.ID, order)
		if errors.Is(err, store.ErrNotFound) {
			err = unknownKnowledgeBase("", kb.Name, err) // deleted meanwhile
		}
		return http.StatusAccepted, submittedListing{[]submittedAnswer{submittedOf(done)}}, err
	})
}

func (s *Server) orderOf(in textRequest) (order ingest.URLOrder, err error) {
	switch {
	case s.cfg.Addresses == nil:
		return order, notSupported("url", "this server does not fetch")
	case in.Text != nil:
		return order, invalidField("text", "stands beside url: send one of them")
	case in.Name != "":
		return order, invalidField("name", "comes from the URL: leave it out")
	case in.MIME != "":
		return order, invalidField("mime", "comes with the page: leave it out")
	case in.Path != "":
		return order, invalidField("path", "is the URL: leave it out")
	case in.Origin != "":
		return order, invalidField("origin", "is that of URLs: leave it out")
	}
	if err := checkTitle(in.Title); err != nil {
		return order, err
	}
	order = ingest.URLOrder{URL: *in.URL, Title: in.Title}
	if in.Crawl != nil {
		order.Crawl = (*ingest.CrawlOrder)(in.Crawl)
	}
	if order.Refresh, err = period(in.Refresh); err != nil {
		return order, err
	}
	order.Metadata, err = givenMetadata(in.Metadata)
	return order, err
}

// period reads a duration such as 24h, "" for 0.
func period(given string) (time.Duration, error) {
	if given == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(given)
	if err != nil {
		return 0, invalidField("refresh", `must be a time such as "24h" or "90m"`)
	}
	return d, nil
}

// refreshDocument has a document's URL fetched now.
func (s *Server) refreshDocument(c echo.Context) error {
	return s.changeRefresh(c, nil, func(kb string) (store.Address, error) {
		return s.cfg.Addresses.Refresh(c.Request().Context(), kb, param(c, "id"))
	})
}

type refreshRequest struct {
	Refresh *string `json:"refresh"`
}

// scheduleRefresh changes how often a document's URL is fetched, "" for never
// again.
func (s *Server) scheduleRefresh(c echo.Context) error {
	var in refreshRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	if in.Refresh == nil {
		return invalidField("refresh", `is missing: give a time such as "24h", or "" to stop`)
	}
	every, err := period(*in.Refresh)
	if err != nil {
		return err
	}
	return s.changeRefresh(c, body, func(kb string) (store.Address, error) {
		return s.cfg.Addresses.SetRefresh(c.Request().Context(), kb, param(c, "id"), every)
	})
}

func (s *Server) changeRefresh(c echo.Context, body []byte, change func(kb string) (store.Address, error)) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	if s.cfg.Addresses == nil {
		return notSupported("url", "this server does not fetch")
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		a, err := change(kb.ID)
		if err != nil {
			return 0, nil, missing(err, "document", param(c, "id"))
		}
		return http.StatusAccepted, addressOf(a), nil
	})
}
