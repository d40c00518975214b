package fetch_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"ragagent/ingest/fetch"
)

// nameServer answers every question with code and no address.
func nameServer(t *testing.T, code dnsmessage.RCode) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil {
				continue
			}
			m.Header = dnsmessage.Header{ID: m.ID, Response: true, RCode: code}
			m.Additionals = nil
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestUnreachable: a server that there is no connection to is told as such, not
// as one whose robots.txt forbids everything.
func TestUnreachable(t *testing.T) {
	s := serve(t, pages(nil))
	closed := serve(t, pages(nil))
	closed.Close()
	for name, c := range map[string]struct {
		url, want string
		code      dnsmessage.RCode
		temporary bool
	}{
		"no such name":     {"http://nosuch.example/page", `there is no host "nosuch.example": look at the spelling`, dnsmessage.RCodeNameError, false},
		"a resolver fails": {"http://some.example/page", "the name of some.example could not be resolved: server misbehaving", dnsmessage.RCodeServerFailure, true},
		"nobody listens":   {closed.URL + "/page", strings.TrimPrefix(closed.URL, "http://") + " cannot be reached: connection refused", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fetcher(t, s, func(cfg *fetch.Config) {
				cfg.Resolver = nameServer(t, c.code)
				cfg.Ports = append(cfg.Ports, closed.port(t))
			})
			_, _, err := get(t, f, c.url)
			var unreachable *fetch.UnreachableError
			if !errors.As(err, &unreachable) || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), "robots") {
				t.Errorf("%v; want %q", err, c.want)
			}
			if fetch.Temporary(err) != c.temporary {
				t.Errorf("%v is temporary: %v", err, !c.temporary)
			}
		})
	}
}
