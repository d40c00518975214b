package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxHeaderBytes bounds a response's header.
const maxHeaderBytes = 64 << 10

func (f *Fetcher) newTransport() *http.Transport {
	t := &http.Transport{
		DialContext:            f.dialer().DialContext,
		TLSHandshakeTimeout:    f.cfg.HeaderTimeout,
		ResponseHeaderTimeout:  f.cfg.HeaderTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    2,
		MaxConnsPerHost:        8,
		IdleConnTimeout:        30 * time.Second,
		DisableCompression:     true, // unpacked within bounds here
	}
	if f.cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(f.cfg.Proxy)
	}
	if f.cfg.Transport != nil {
		f.cfg.Transport(t)
	}
	return t
}

// get is one GET with its redirects. The transport is used without a client, so
// that there are no cookies, no Referer and no redirects but those made here.
type get struct {
	fetcher   *Fetcher
	url       *url.URL
	header    http.Header
	maxBytes  int64
	redirects int
	onHop     func(*url.URL) error // asked before each request; may be nil
}

// do returns the first response that is no redirect, whatever its status. stop
// is called when its body is closed.
func (g *get) do(ctx context.Context, stop context.CancelCauseFunc) (*Response, error) {
	downgraded := false
	for hop := 0; ; hop++ {
		resp, err := g.request(ctx)
		if err != nil {
			return nil, err
		}
		next, err := redirect(resp)
		if next == nil && err == nil {
			return g.response(ctx, resp, stop, downgraded)
		}
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		if hop >= max(g.redirects, 0) {
			return nil, &RefusedError{Rule: RuleRedirects, What: fmt.Sprintf("more than %d redirects", max(g.redirects, 0))}
		}
		next.User = nil // what a page says is not to be logged in with
		downgraded = downgraded || g.url.Scheme == "https" && next.Scheme == "http"
		g.url = next
	}
}

// request sends the request for the current URL.
func (g *get) request(ctx context.Context) (*http.Response, error) {
	f := g.fetcher
	if err := f.checkURL(g.url); err != nil {
		return nil, err
	}
	if f.cfg.Proxy != nil {
		if err := f.checkProxied(ctx, g.url); err != nil {
			return nil, err
		}
	}
	if g.onHop != nil {
		if err := g.onHop(g.url); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for name, values := range g.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", f.cfg.UserAgent)
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := f.transport.RoundTrip(req)
	var refused *RefusedError
	if errors.As(err, &refused) { // by the dialer, which says more than users want to know
		return nil, refused
	}
	if err != nil {
		return nil, unreached(ctx, g.url, reasonOf(ctx, err))
	}
	return resp, nil
}

// redirect returns where a response leads on to, nil if it does not.
func redirect(resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, &StatusError{Status: resp.StatusCode}
	}
	next, err := resolve(resp.Request.URL, location)
	if err != nil {
		return nil, fmt.Errorf("redirected: %w", err)
	}
	return next, nil
}

// response makes a Response whose body is bounded.
func (g *get) response(ctx context.Context, resp *http.Response, stop context.CancelCauseFunc, downgraded bool) (*Response, error) {
	out := &Response{
		URL:          g.url.String(),
		Status:       resp.StatusCode,
		NotModified:  resp.StatusCode == http.StatusNotModified,
		Downgraded:   downgraded,
		Name:         fileName(resp.Header.Get("Content-Disposition"), g.url),
		ETag:         resp.Header.Get("ETag"),
		LastModified: resp.Header.Get("Last-Modified"),
		Size:         resp.ContentLength,
		header:       resp.Header,
	}
	out.ContentType, out.Charset = mediaType(resp.Header.Get("Content-Type"))
	body := &body{ctx: ctx, stop: stop, conn: resp.Body, left: g.maxBytes, max: g.maxBytes, idle: g.fetcher.cfg.IdleTimeout}
	out.Body = body
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		out.Size = -1
		body.packed = true
	default:
		if out.Status == http.StatusOK {
			return out, &RefusedError{Rule: RuleEncoding, What: fmt.Sprintf("the server sent the encoding %q, which was not asked for", encoding)}
		}
	}
	return out, nil
}

func mediaType(header string) (media, charset string) {
	media, params, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		media, _, _ = strings.Cut(header, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	return media, strings.ToLower(params["charset"])
}

// body is the content of a response: unpacked, bounded in bytes, and in the
// time that a server may keep silent.
type body struct {
	ctx    context.Context
	stop   context.CancelCauseFunc
	conn   io.ReadCloser
	packed bool
	unzip  *gzip.Reader
	left   int64
	max    int64
	idle   time.Duration
	err    error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	silence := time.AfterFunc(b.idle, func() {
		b.stop(fmt.Errorf("%w: it sent nothing for %v", ErrTimeout, b.idle))
	})
	n, err := b.read(p)
	silence.Stop()
	if b.left -= int64(n); b.left < 0 {
		n, err = n+int(b.left), tooLarge(b.max)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = reasonOf(b.ctx, err)
	}
	b.err = err
	return n, err
}

func (b *body) read(p []byte) (int, error) {
	if !b.packed {
		return b.conn.Read(p)
	}
	if b.unzip == nil {
		unzip, err := gzip.NewReader(b.conn)
		if err != nil {
			return 0, err // io.EOF: an empty body is often said to be packed
		}
		b.unzip = unzip
	}
	return b.unzip.Read(p)
}

// Close ends the fetch, complete or not.
func (b *body) Close() error {
	if b.err == nil {
		b.err = errors.New("fetch: read after Close")
	}
	err := b.conn.Close()
	b.stop(nil)
	return err
}
