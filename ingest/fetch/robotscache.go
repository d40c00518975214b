package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxRobotsBytes = 500 << 10 // RFC 9309 2.5
	robotsTTL      = time.Hour
	robotsRetry    = 5 * time.Minute // of a file that could not be read
	robotsKept     = 256             // sites
	robotsRules    = 200_000         // of all sites together
)

// robotsCache keeps the rules of the sites asked last.
type robotsCache struct {
	now func() time.Time

	mu    sync.Mutex
	sites map[string]robotsEntry
	rules int
}

type robotsEntry struct {
	robots  *robots
	expires time.Time
}

func newRobotsCache(now func() time.Time) *robotsCache {
	return &robotsCache{now: now, sites: map[string]robotsEntry{}}
}

func (c *robotsCache) get(origin string) (*robots, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.sites[origin]
	if !ok || !c.now().Before(e.expires) {
		return nil, false
	}
	return e.robots, true
}

// put keeps the rules of a site, in the place of those that expire first.
func (c *robotsCache) put(origin string, r *robots, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(origin)
	for len(c.sites) > 0 && (len(c.sites) >= robotsKept || c.rules+len(r.rules) > robotsRules) {
		oldest := ""
		for o, e := range c.sites {
			if oldest == "" || e.expires.Before(c.sites[oldest].expires) {
				oldest = o
			}
		}
		c.drop(oldest)
	}
	c.sites[origin] = robotsEntry{r, c.now().Add(ttl)}
	c.rules += len(r.rules)
}

func (c *robotsCache) drop(origin string) {
	if e, ok := c.sites[origin]; ok {
		c.rules -= len(e.robots.rules)
		delete(c.sites, origin)
	}
}

// askRobots refuses what the site's robots.txt does not allow us.
func (f *Fetcher) askRobots(ctx context.Context, u *url.URL) error {
	r, err := f.robotsOf(ctx, u)
	if err != nil {
		return err
	}
	return r.check(u)
}

// robotsOf returns the rules of a URL's site. An error is ctx's, or says that
// the site as such is refused or cannot be reached.
func (f *Fetcher) robotsOf(ctx context.Context, u *url.URL) (*robots, error) {
	if f.ignoresRobots(u.Hostname()) {
		return &robots{}, nil
	}
	origin := u.Scheme + "://" + u.Host
	if r, ok := f.robots.get(origin); ok {
		return r, nil
	}
	r, ttl, err := f.fetchRobots(ctx, u)
	if err != nil {
		return nil, err
	}
	f.robots.put(origin, r, ttl)
	return r, nil
}

func (f *Fetcher) ignoresRobots(host string) bool {
	return slices.ContainsFunc(f.cfg.IgnoreRobots, func(h string) bool {
		return h == "*" || strings.EqualFold(h, host)
	})
}

// fetchRobots asks a site for its robots.txt. RFC 9309 2.3.1: a file that is
// not there allows everything, one that cannot be read allows nothing.
func (f *Fetcher) fetchRobots(ctx context.Context, u *url.URL) (*robots, time.Duration, error) {
	ctx, stop := f.deadline(ctx)
	defer stop(nil)
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	g := get{fetcher: f, url: at, maxBytes: maxRobotsBytes, redirects: 5}
	resp, err := g.do(ctx, stop)
	if resp != nil {
		defer resp.Body.Close()
	}
	var refused *RefusedError
	var unreached *UnreachableError
	switch {
	case errors.As(err, &refused) && refused.Rule == RuleRedirects:
		return &robots{}, robotsTTL, nil
	case errors.As(err, &refused) && g.url == at:
		return nil, 0, err // the site itself is refused, and this is why
	case errors.As(err, &unreached) && g.url == at:
		return nil, 0, err // so is the page, and it has nothing to do with rules
	case err != nil && context.Cause(ctx) != nil && !errors.Is(err, ErrTimeout):
		return nil, 0, err
	case err != nil:
		return unreadable(u, err), robotsRetry, nil
	case resp.Status >= 500 || resp.Status == http.StatusTooManyRequests:
		return unreadable(u, &StatusError{Status: resp.Status}), robotsRetry, nil
	case resp.Status != http.StatusOK:
		return &robots{}, robotsTTL, nil
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, ErrTooLarge) { // of a larger one, the beginning counts
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, ErrTimeout) {
			return nil, 0, cause
		}
		return unreadable(u, err), robotsRetry, nil
	}
	return parseRobots(data, f.product), robotsTTL, nil
}

func unreadable(u *url.URL, why error) *robots {
	return &robots{verdict: &RefusedError{Rule: RuleRobots, Passing: true,
		What: fmt.Sprintf("robots.txt of %s cannot be read, which forbids everything: %v", u.Host, why)}}
}
