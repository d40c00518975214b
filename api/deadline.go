package api

import (
	"io"
	"net/http"
	"time"
)

// The time a client has. http.Server's own ReadTimeout and WriteTimeout bound a
// whole request and would cut long uploads and event streams; these bound the
// time without progress instead.
const (
	bodyPatience  = 30 * time.Second // without a byte of the body
	bodyRate      = 1000             // bytes a second, on the average, after bodyPatience
	drainPatience = 5 * time.Second  // for the rest of a body nobody wanted
	writePatience = 30 * time.Second // of one write to a client that does not read
)

// deadlines sets the connection's deadlines while a request is served. An
// honest slow upload goes on as long as it makes bodyRate; one that stops or
// drips is cut off with os.ErrDeadlineExceeded. Writers that cannot have
// deadlines (recorders in tests) are left alone.
func deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		extend := func() { _ = conn.SetWriteDeadline(time.Now().Add(writePatience)) }
		// A deadline that an earlier request left must not hit this one.
		extend()
		defer extend()
		if r.Body != nil && r.Body != http.NoBody {
			body := &pacedBody{ReadCloser: r.Body, conn: conn, start: time.Now()}
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
	conn  *http.ResponseController
	start time.Time
	read  int64
	ended bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(bodyDeadline(b.start, time.Now(), b.read))
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
		_ = b.conn.SetReadDeadline(time.Now().Add(drainPatience))
	}
}

// bodyDeadline is when the next byte has to be there.
func bodyDeadline(start, now time.Time, read int64) time.Time {
	idle := now.Add(bodyPatience)
	slow := start.Add(bodyPatience + time.Duration(read)*(time.Second/bodyRate))
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
