package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ragagent/ingest/fetch"
)

// answers is a server that writes what it likes to each connection.
func answers(t *testing.T, answer func(net.Conn)) *site {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			answer(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return &site{Server: &httptest.Server{URL: "http://" + listener.Addr().String()}}
}

// request reads a request up to its end.
func request(c net.Conn) {
	var got []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(got, []byte("\r\n\r\n")) {
		if _, err := c.Read(one); err != nil {
			return
		}
		got = append(got, one...)
	}
}

// untilGone waits until the other side has closed the connection.
func untilGone(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func hasty(c *fetch.Config) {
	c.IgnoreRobots = []string{"*"}
	c.MaxBytes = 1 << 20
	c.HeaderTimeout, c.IdleTimeout, c.Timeout = 100*time.Millisecond, 100*time.Millisecond, 500*time.Millisecond
}

func TestServersThatAreTooSlow(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"nothing": untilGone,
		"half a header": func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-")
			untilGone(c)
		},
		"a header byte by byte": func(c net.Conn) {
			request(c)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Long: ")
			for tick := time.NewTicker(time.Millisecond); err == nil; <-tick.C {
				_, err = io.WriteString(c, "x")
			}
		},
		"half a body": func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
			untilGone(c)
		},
		"a body byte by byte": func(c net.Conn) {
			request(c)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for tick := time.NewTicker(time.Millisecond); err == nil; <-tick.C {
				_, err = io.WriteString(c, "x")
			}
		},
		"a packed body that does not begin": func(c net.Conn) {
			request(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f")
			untilGone(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := answers(t, answer)
			_, _, err := get(t, fetcher(t, s, hasty), s.URL)
			if !errors.Is(err, fetch.ErrTimeout) || !fetch.Temporary(err) {
				t.Error(err)
			}
		})
	}
}

func TestResponsesThatAreTooLarge(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		block := make([]byte, 32<<10)
		switch r.URL.Path {
		case "/claimed":
			w.Header().Set("Content-Length", "1048577")
			_, _ = w.Write(block)
		case "/endless":
			for err := error(nil); err == nil; {
				_, err = w.Write(block)
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			for err == nil {
				_, err = z.Write(block)
			}
		case "/fits":
			for range 32 {
				_, _ = w.Write(block)
			}
		}
	})
	f := fetcher(t, s, func(c *fetch.Config) { c.MaxBytes = 1 << 20 })
	for path, read := range map[string]int{"/claimed": 0, "/endless": 1 << 20, "/bomb": 1 << 20} {
		_, text, err := get(t, f, s.URL+path)
		if !errors.Is(err, fetch.ErrTooLarge) || len(text) != read || fetch.Temporary(err) {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
	if _, text, err := get(t, f, s.URL+"/fits"); err != nil || len(text) != 1<<20 {
		t.Errorf("what fits: %d bytes, %v", len(text), err)
	}
}

func TestResponsesThatAreBroken(t *testing.T) {
	for name, reply := range map[string]string{
		"a length that lies":  "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"chunks that end":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
		"gzip that is none":   "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot packed..",
		"no HTTP":             "SSH-2.0-OpenSSH_9.9\r\n",
		"a header of 1 MB":    "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"100,000 headers":     "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n",
		"a length twice":      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"a negative length":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"a redirect to space": "HTTP/1.1 302 Found\r\nLocation: http://%zz/\r\n\r\n",
		"a redirect nowhere":  "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
		"endless 1xx":         strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			s := answers(t, func(c net.Conn) {
				request(c)
				_, _ = io.WriteString(c, reply)
			})
			if _, text, err := get(t, fetcher(t, s, hasty), s.URL); err == nil || len(text) > 12 {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
}

func TestACallerMayGoAway(t *testing.T) {
	begun := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		_, _ = io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	resp, err := fetcher(t, s).Fetch(ctx, fetch.Request{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	cancel()
	if _, err = io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) || fetch.Temporary(err) {
		t.Error(err)
	}
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("after Close %d bytes were read, %v", n, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	f := fetcher(t, s)
	failed := make(chan error, 20)
	for i := range 20 {
		go func() {
			want := fmt.Sprint("/", i)
			_, text, err := get(t, f, s.URL+want)
			if err == nil && text != want {
				err = fmt.Errorf("%s is %q", want, text)
			}
			failed <- err
		}()
	}
	for range 20 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
