package api

import (
	"context"
	"time"
)

// gate lets a bounded number of requests work at a time and a bounded number
// wait for that, for a bounded time. All others are told to come back.
type gate struct {
	name    string
	slots   chan struct{} // one element for each request at work
	queue   chan struct{} // one for each at work or waiting
	timeout time.Duration // of waiting
}

func newGate(name string, slots, queue int, timeout time.Duration) *gate {
	return &gate{
		name:    name,
		slots:   make(chan struct{}, slots),
		queue:   make(chan struct{}, slots+queue),
		timeout: timeout,
	}
}

// enter waits for a place. leave gives it back and is called once.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.queue <- struct{}{}:
	default:
		return nil, g.full()
	}
	leave = func() { <-g.slots; <-g.queue }
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	default:
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.timeout, g.full())
	defer cancel()
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		<-g.queue
		return nil, context.Cause(ctx)
	}
}

func (g *gate) full() error {
	return unavailable(CodeOverloaded, time.Second, "the server has as many %s to do as it can take: try again shortly", g.name)
}
