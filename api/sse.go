package api

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// heartbeat is how often a quiet stream says that it is alive, so that proxies
// keep it open and a client that has gone is noticed.
const heartbeat = 15 * time.Second

// eventStream writes server-sent events (WHATWG HTML, 9.2). Each event is
// flushed. The header goes out with the first event, so that what fails before
// it is still an ordinary problem document.
type eventStream struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	beats  <-chan time.Time // when to say that the stream is alive
	opened bool
	last   int // id of the last event, from 1
}

func newEventStream(w http.ResponseWriter, beats <-chan time.Time) *eventStream {
	return &eventStream{w: w, flush: http.NewResponseController(w), beats: beats}
}

// open sends the header, once.
func (s *eventStream) open() {
	if s.opened {
		return
	}
	s.opened = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	s.w.WriteHeader(http.StatusOK)
}

func (s *eventStream) send(event string, data any) error {
	payload, err := encode(data) // one line: JSON escapes line ends
	if err != nil {
		return err
	}
	s.open()
	s.last++
	var b bytes.Buffer
	b.WriteString("id: " + strconv.Itoa(s.last) + "\nevent: " + event + "\ndata: ")
	b.Write(payload)
	b.WriteString("\n\n")
	return s.write(b.Bytes())
}

// end tells the client of err, if there is one: as an event where the stream
// has begun, else as the problem document the caller's error becomes.
func (s *eventStream) end(err error) error {
	if err == nil || !s.opened {
		return err
	}
	if sendErr := s.send("error", problemOf(err)); sendErr != nil {
		return sendErr
	}
	return fmt.Errorf("%w: %w", errSent, err)
}

func (s *eventStream) beat() error {
	s.open() // a proxy waits for the header no longer than for anything else
	return s.write([]byte(": heartbeat\n\n"))
}

func (s *eventStream) write(p []byte) error {
	if _, err := s.w.Write(p); err != nil {
		return err
	}
	return s.flush.Flush()
}

// pump carries a sequence that may be silent for long to handle, and beats in
// between. The sequence runs in its own goroutine, which has ended when pump
// returns. If handle or a heartbeat fails, the context that open was given ends and
// nothing more is handled; if ctx ends, the sequence itself says how it ended.
// A panic in the sequence comes back as an error.
func pump[T any](ctx context.Context, stream *eventStream, open func(context.Context) iter.Seq2[T, error], handle func(T) error) error {
	ctx, stop := context.WithCancel(ctx)
	var producer sync.WaitGroup
	items, quit := make(chan item[T]), make(chan struct{})
	defer producer.Wait()
	defer close(quit)
	defer stop()
	producer.Go(func() {
		defer close(items)
		produce(open(ctx), items, quit)
	})
	for {
		select {
		case it, open := <-items:
			if !open {
				return nil
			}
			if it.err != nil {
				return it.err
			}
			if err := handle(it.value); err != nil {
				return err
			}
		case <-stream.beats:
			if err := stream.beat(); err != nil {
				return err
			}
		}
	}
}

// item is one element of a sequence on its way between goroutines.
type item[T any] struct {
	value T
	err   error
}

func produce[T any](seq iter.Seq2[T, error], items chan<- item[T], quit <-chan struct{}) {
	send := func(it item[T]) bool {
		select {
		case items <- it:
			return true
		case <-quit:
			return false
		}
	}
	defer func() {
		if r := recover(); r != nil {
			send(item[T]{err: &panicError{value: r, stack: debug.Stack()}})
		}
	}()
	for value, err := range seq {
		if !send(item[T]{value, err}) || err != nil {
			return
		}
	}
}

// panicError is a panic that was caught on another goroutine.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
