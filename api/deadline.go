package api

import (
	"io"
	"net/http"
	"time"
)

// patience is the time a client has. http.Server's own ReadTimeout and
// WriteTimeout bound a whole request and would cut long uploads and event
// streams; this bounds the time without progress instead.
type patience struct {
	body  time.Duration // without a byte of the body
	rate  int64         // bytes a second of the body, on the average, once body has passed
	drain time.Duration // for the rest of a body nobody wanted
	write time.Duration // of one write to a client that does not read
}

var defaultPatience = patience{
	body:  30 * time.Second,
	rate:  1000,
	drain: 5 * time.Second,
	write: 30 * time.Second,
}

// deadlines sets the connection's deadlines while a request is served. An
// honest slow upload goes on as long as it makes the rate; one that stops or
// drips is cut off with os.ErrDeadlineExceeded. Writers that cannot have
// deadlines (recorders in tests) are left alone.
func deadlines(p patience, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		extend := func() { _ = conn.SetWriteDeadline(time.Now().Add(p.write)) }
		// A deadline that an earlier request left must not hit this one.
		extend()
		defer extend()
		if r.Body != nil && r.Body != http.NoBody {
			body := &pacedBody{ReadCloser: r.Body, patience: p, conn: conn, start: time.Now()}
			defer body.release()
			served := r.WithContext(r.Context()) // a handler leaves its request as it is
			served.Body = body
			r = served
		}
		next.ServeHTTP(&pacedWriter{ResponseWriter: w, extend: extend}, r)
	})
}

type pacedBody struct {
	io.ReadCloser
	patience patience
	conn     *http.ResponseController
	start    time.Time
	read     int64
	ended    bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(b.patience.bodyDeadline(b.start, time.Now(), b.read))
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if err == io.EOF && !b.ended {
		// net/http now watches the connection for a client that goes away:
		// that has no deadline.
		b.ended = true
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// release is called when the request was served: net/http reads a little of
// what was left of the body, to use the connection again.
func (b *pacedBody) release() {
	if !b.ended {
		_ = b.conn.SetReadDeadline(time.Now().Add(b.patience.drain))
	}
}

// bodyDeadline is when the next byte has to be there.
func (p patience) bodyDeadline(start, now time.Time, read int64) time.Time {
	idle := now.Add(p.body)
	slow := start.Add(p.body + time.Duration(float64(read)/float64(p.rate)*float64(time.Second)))
	if slow.Before(idle) {
		return slow
	}
	return idle
}

// pacedWriter gives each write its time. It hides ReadFrom, so that sending a
// large file is many writes, not one.
type pacedWriter struct {
	http.ResponseWriter
	extend func()
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
