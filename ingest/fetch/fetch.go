// Package fetch gets files and pages from URLs that users name. A server that
// does so can be sent to its own network, so the guard looks at the address
// that is dialled, on every connection; names and redirects decide nothing.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config is what a Fetcher is made from. The zero value fetches from the public
// internet alone, directly, and obeys robots.txt.
type Config struct {
	// UserAgent is sent with every request; its first word, up to a slash, is
	// the name that robots.txt is searched for. "ragagent".
	UserAgent string
	// Allow lists addresses outside the public internet that may be fetched
	// from, as 192.168.1.0/24.
	Allow []netip.Prefix
	// Ports that may be fetched from; 80, 443, 8080, 8443.
	Ports []uint16
	// Types are the media types taken: "application/pdf", or all that begin
	// with one, "text/*". Empty: those that can be read as documents. A
	// response without a type is taken.
	Types []string
	// IgnoreRobots lists the hosts whose robots.txt is not asked for, being
	// one's own; "*" is all.
	IgnoreRobots []string
	// Proxy is asked for everything. It then resolves names and has to guard
	// its network itself; addresses written in URLs are still checked here.
	// Proxies of the environment are not used.
	Proxy *url.URL

	MaxBytes      int64         // of a body, unpacked; 512 MiB
	MaxRedirects  int           // 5; negative: none
	Timeout       time.Duration // of a fetch, the reading of its body included; 5 min
	HeaderTimeout time.Duration // of connecting, and of waiting for a response's header; 15 s
	IdleTimeout   time.Duration // in which a body has to yield a byte; 30 s
	// Delay lies between two requests of a crawl; 500 ms, negative: none. The
	// Crawl-delay of robots.txt, up to 30 s, counts if it is longer.
	Delay time.Duration

	Resolver  *net.Resolver                              // of names; the system's
	Transport func(*http.Transport)                      // last word on the transport, for certificates; nil
	Now       func() time.Time                           // time.Now
	Sleep     func(context.Context, time.Duration) error // waits; a timer
}

// Fetcher fetches. Its methods may be called concurrently.
type Fetcher struct {
	cfg       Config
	product   string // for robots.txt
	transport *http.Transport
	robots    *robotsCache
}

// New returns a Fetcher. ErrInvalid for a Proxy that is no http or https URL or
// a UserAgent without a name or with control characters.
func New(cfg Config) (*Fetcher, error) {
	cfg = withDefaults(cfg)
	product := productToken(cfg.UserAgent)
	if product == "" || strings.ContainsFunc(cfg.UserAgent, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%w: user agent %q has to begin with a name", ErrInvalid, cfg.UserAgent)
	}
	if p := cfg.Proxy; p != nil && (p.Host == "" || p.Scheme != "http" && p.Scheme != "https") {
		return nil, fmt.Errorf("%w: the proxy has to be an http or https URL", ErrInvalid)
	}
	f := &Fetcher{cfg: cfg, product: product, robots: newRobotsCache(cfg.Now)}
	f.transport = f.newTransport()
	return f, nil
}

func withDefaults(cfg Config) Config {
	cfg.UserAgent = orDefault(cfg.UserAgent, "ragagent")
	cfg.MaxBytes = orDefault(max(cfg.MaxBytes, 0), 512<<20)
	cfg.MaxRedirects = orDefault(cfg.MaxRedirects, 5)
	cfg.Timeout = orDefault(max(cfg.Timeout, 0), 5*time.Minute)
	cfg.HeaderTimeout = orDefault(max(cfg.HeaderTimeout, 0), 15*time.Second)
	cfg.IdleTimeout = orDefault(max(cfg.IdleTimeout, 0), 30*time.Second)
	cfg.Delay = orDefault(cfg.Delay, 500*time.Millisecond)
	cfg.Allow, cfg.IgnoreRobots = slices.Clone(cfg.Allow), slices.Clone(cfg.IgnoreRobots)
	if len(cfg.Ports) == 0 {
		cfg.Ports = []uint16{80, 443, 8080, 8443}
	}
	if len(cfg.Types) == 0 {
		cfg.Types = readableTypes()
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	return cfg
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Close gives up connections that are kept for later.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }

// Request is what to fetch.
type Request struct {
	URL string
	// ETag and LastModified of the Response that the caller has; they make the
	// request conditional.
	ETag, LastModified string
}

// Response is what a server sent.
type Response struct {
	URL    string // after redirects, normalised
	Status int
	// NotModified says that what the caller has is still so; Body is empty.
	NotModified bool
	// Downgraded says that a redirect led from https to http: the content may
	// have been changed on its way.
	Downgraded bool
	// ContentType is the media type in lower case without parameters, "" if
	// the server names none; Charset its parameter.
	ContentType, Charset string
	// Name is a file name, from Content-Disposition or the URL: without
	// folders or control characters, never empty, at most 200 bytes.
	Name               string
	ETag, LastModified string // to be sent with the next Request; may be empty
	// Size is the length that the server claims of the body, -1 if it does not.
	Size int64
	// Body is never nil and has to be closed. Reading ends with ErrTooLarge,
	// ErrTimeout or an error of the connection; only io.EOF means that it is
	// complete.
	Body io.ReadCloser

	header http.Header
}

// Fetch gets what a URL leads to. It returns when the header is there; Config's
// Timeout and ctx go on for the body.
//
// Errors are written for users. *RefusedError: by a rule of ours, with the
// setting that allows it. ErrGone: 404 or 410. *StatusError: another status.
// ErrInvalid, ErrTooLarge, ErrTimeout; else what failed on the way. Temporary
// says which of them may pass.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Response, error) {
	resp, err := f.fetch(ctx, req, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shownURL(req.URL), err)
	}
	return resp, nil
}

// fetch gets a document: what robots.txt allows, of a type that can be read.
// onHop, if there is one, has a say in where redirects lead.
func (f *Fetcher) fetch(ctx context.Context, req Request, onHop func(*url.URL) error) (*Response, error) {
	u, err := parseURL(req.URL)
	if err != nil {
		return nil, err
	}
	ctx, stop := f.deadline(ctx)
	g := get{fetcher: f, url: u, header: http.Header{}, maxBytes: f.cfg.MaxBytes, redirects: f.cfg.MaxRedirects}
	if req.ETag != "" {
		g.header.Set("If-None-Match", req.ETag)
	}
	if req.LastModified != "" {
		g.header.Set("If-Modified-Since", req.LastModified)
	}
	g.onHop = func(u *url.URL) error {
		if onHop != nil {
			if err := onHop(u); err != nil {
				return err
			}
		}
		return f.askRobots(ctx, u)
	}
	resp, err := g.do(ctx, stop)
	if err == nil {
		err = f.accept(resp, len(g.header) > 0)
	}
	if err != nil {
		err = reasonOf(ctx, err) // before closing the body, which ends ctx
		if resp != nil {
			resp.Body.Close()
		}
		stop(nil)
		return nil, err
	}
	return resp, nil
}

// accept refuses responses that are not what was asked for.
func (f *Fetcher) accept(r *Response, conditional bool) error {
	switch {
	case r.NotModified && conditional:
		return nil
	case r.Status == http.StatusNotFound || r.Status == http.StatusGone:
		return fmt.Errorf("%w (status %d)", ErrGone, r.Status)
	case r.Status != http.StatusOK && r.Status != http.StatusNonAuthoritativeInfo:
		return &StatusError{Status: r.Status, RetryAfter: retryAfter(r.header, f.cfg.Now())}
	case !typeAllowed(f.cfg.Types, r.ContentType):
		return &RefusedError{Rule: RuleType, What: "its type is " + r.ContentType}
	case r.Size > f.cfg.MaxBytes:
		return tooLarge(f.cfg.MaxBytes)
	}
	return nil
}

// deadline bounds a fetch; stop frees it and tells what a cancellation meant.
func (f *Fetcher) deadline(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, free := context.WithTimeoutCause(ctx, f.cfg.Timeout,
		fmt.Errorf("%w: not complete after %v (setting %s)", ErrTimeout, f.cfg.Timeout, settingTimeout))
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, func(cause error) { cancel(cause); free() }
}

// reasonOf says why a request that ctx ended has failed.
func reasonOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return cause
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, ErrTimeout) {
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return err
}
