package api

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

// observe is the outermost layer inside echo: it names the request, catches
// panics, turns errors into problem documents, counts and logs.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start, id := time.Now(), requestID()
		c.Response().Header().Set("X-Request-Id", id)
		leave := s.metrics.enter()
		defer leave()
		err := guarded(next, c)
		half := err != nil && c.Response().Committed && !errors.Is(err, errSent)
		status := c.Response().Status
		if err != nil {
			status = s.fail(c, err)
		}
		elapsed := time.Since(start)
		s.metrics.request(c.Request().Method, routeName(c), status, elapsed)
		s.log(c, id, status, elapsed, err)
		if half {
			// Half an answer went out: only a broken connection tells the
			// client that it is not the whole.
			panic(http.ErrAbortHandler)
		}
		return nil
	}
}

// errSent wraps an error whose problem the client has been told already.
var errSent = errors.New("sent")

// guarded calls next and returns a panic of it as an error.
func guarded(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if r == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
				panic(r)
			}
			err = &panicError{value: r, stack: debug.Stack()}
		}
	}()
	return next(c)
}

// fail answers with the problem of err, unless an answer is on its way, and
// returns the status that counts.
func (s *Server) fail(c echo.Context, err error) int {
	p := problemOf(err)
	if c.Response().Committed {
		return p.Status
	}
	h := c.Response().Header()
	for _, stale := range []string{"Content-Type", "Content-Length", "Content-Disposition", "Etag", "Last-Modified", "Accept-Ranges"} {
		h.Del(stale)
	}
	h.Set("Cache-Control", "no-store")
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
		h.Set("Connection", "close") // the rest of the body is not worth reading
	}
	body, encodeErr := encode(p)
	if encodeErr != nil {
		p.Result = nil
		body, _ = encode(p) // strings and numbers
	}
	if sendErr := c.Blob(p.Status, "application/problem+json", body); sendErr != nil {
		s.cfg.Log.Debug("problem not delivered", "error", sendErr)
	}
	return p.Status
}

func (s *Server) log(c echo.Context, id string, status int, elapsed time.Duration, err error) {
	level := slog.LevelDebug
	switch {
	case status == http.StatusInternalServerError:
		level = slog.LevelError
	case status > http.StatusInternalServerError: // a model, the disk, the load
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("id", id),
		slog.String("method", c.Request().Method),
		slog.String("path", c.Request().URL.Path),
		slog.Int("status", status),
		slog.Int64("bytes", c.Response().Size),
		slog.Duration("elapsed", elapsed),
		slog.String("remote", c.RealIP()),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", cause(err).Error()))
	}
	s.cfg.Log.LogAttrs(c.Request().Context(), level, "request", attrs...)
}

// cause is what the log says about err: a problem's own cause says more.
func cause(err error) error {
	var p *Problem
	if errors.As(err, &p) && p.cause != nil {
		return p.cause
	}
	return err
}

// routeName is the route's pattern: the number of metrics stays bounded
// whatever addresses are asked for.
func routeName(c echo.Context) string {
	if path := c.Path(); path != "" {
		return path
	}
	return "other"
}
