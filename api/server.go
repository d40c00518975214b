package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/netutil"
)

// Server answers HTTP. It may be used as a handler by any http.Server; Serve
// brings one that is set up for it.
type Server struct {
	cfg     Config
	echo    *echo.Echo
	handler http.Handler
	guard   *guard
	metrics *metrics
	answers *idempotency
	page    page

	asks, retrieves, texts, previews *gate

	// stopping ends when the server shuts down: streams without an end of
	// their own end with it.
	stopping context.Context
	stop     context.CancelFunc
}

// largeTexts is how many documents that come as JSON, and so have to be held
// in memory, are read at a time.
const largeTexts = 2

// New checks the configuration and sets up the routes. Nothing listens yet.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	g, err := newGuard(cfg.Hosts, cfg.Origins)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	if err := prepareSpool(cfg.SpoolDir); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s := &Server{
		cfg:       cfg,
		echo:      echo.New(),
		guard:     g,
		metrics:   newMetrics(cfg.Records, cfg.Log),
		answers:   newIdempotency(cfg.IdempotencyEntries, cfg.Now),
		asks:      newGate("questions", cfg.MaxAsks, cfg.MaxQueue, cfg.QueueTimeout),
		retrieves: newGate("searches", cfg.MaxRetrieves, cfg.MaxQueue, cfg.QueueTimeout),
		texts:     newGate("large texts", largeTexts, cfg.MaxQueue, cfg.QueueTimeout),
		previews:  newGate("previews", maxPreviews, cfg.MaxQueue, cfg.QueueTimeout),
	}
	if s.page, err = newPage(cfg.Page); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.echo.IPExtractor = echo.ExtractIPDirect() // X-Forwarded-For is anybody's word
	s.echo.Use(s.observe, s.admit, s.elsewhere)
	names, err := readQueryNames(openAPI)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	for _, r := range s.routes() {
		if strings.HasPrefix(r.path, "/api/v1/") {
			r.handle = knownQuery(names.of(r), r.handle)
		}
		s.echo.Add(r.method, r.path, r.handle)
		if r.method == http.MethodGet {
			s.echo.Add(http.MethodHead, r.path, r.handle)
		}
	}
	s.handler = deadlines(cfg.patience, s.echo)
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// What a connection may take before and between requests.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	cancelTimeout  = 5 * time.Second
)

// errStopping is why a request was cancelled that outlived ShutdownTimeout.
var errStopping = errors.New("the server is shutting down")

// Serve answers connections of l until ctx ends. Then it stops listening, ends
// streams that have no end of their own, gives running requests
// Config.ShutdownTimeout to finish, cancels the rest and waits a little for
// them to say what they have. A clean end is nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	l = netutil.LimitListener(l, s.cfg.MaxConnections)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		s.stop()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stop()
	err := shutdown(srv, s.cfg.ShutdownTimeout)
	if err != nil {
		cancel(errStopping)
		err = shutdown(srv, cancelTimeout)
	}
	if err != nil {
		err = srv.Close()
	}
	<-ended
	return err
}

func shutdown(srv *http.Server, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return srv.Shutdown(ctx)
}

// admit refuses what must not reach a handler and sets the common headers.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		preflight := s.guard.headers(c.Response().Header(), c.Request())
		if err := s.guard.check(c.Request()); err != nil {
			return err
		}
		if preflight {
			return c.NoContent(http.StatusNoContent)
		}
		return next(c)
	}
}

// reply sends v as JSON. It is encoded before anything is sent, so that an
// error can still become a problem document.
func reply(c echo.Context, status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	return replyBytes(c, status, body)
}

func replyBytes(c echo.Context, status int, body []byte) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(status, "application/json", body)
}

func requestID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return hex.EncodeToString(id[:])
}
