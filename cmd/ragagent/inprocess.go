package main

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// inProcess serves a handler to a client in the same process over pipes: the
// command line speaks the same HTTP as every other client, with no socket.
type inProcess struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newInProcess() *inProcess {
	return &inProcess{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a client of the same process.
func (l *inProcess) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *inProcess) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is a name only.
func (l *inProcess) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "in-process" }

// client returns an HTTP client whose every connection ends in this listener.
func (l *inProcess) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			select {
			case l.conns <- theirs:
				return ours, nil
			case <-l.closed:
				return nil, net.ErrClosed
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}}
}
