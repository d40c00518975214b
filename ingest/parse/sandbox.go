package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"ragagent/store"
)

// sandbox runs parsers in child processes of this program.
type sandbox struct {
	cfg    Config
	places chan struct{}
	pool   *pool
}

func newSandbox(cfg Config) (*sandbox, error) {
	if cfg.Executable == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the own program: %w", err)
		}
		cfg.Executable = self
	}
	return &sandbox{cfg: cfg, places: make(chan struct{}, cfg.Children), pool: &pool{cfg: cfg}}, nil
}

// session is the work of children on one file, one after the other. What they
// may do is bounded for all of them together.
type session struct {
	*sandbox
	blob store.Blob
	file *os.File // a descriptor of it for a child of its own; nil until needed
	left int64    // bytes that may still be said
}

// with does the work of children on a file when there is a place for them,
// within the time that a file may take.
func (s *sandbox) with(ctx context.Context, blob store.Blob, do func(context.Context, *session) error) error {
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.places }()
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, errTimeout)
	defer cancel()
	work := &session{sandbox: s, blob: blob, left: s.cfg.maxTalk()}
	defer func() {
		if work.file != nil {
			work.file.Close()
		}
	}()
	return do(ctx, work)
}

// maxTalk bounds the bytes that all children of a file may say: its text, and
// what goes with each block or line of it.
func (c Config) maxTalk() int64 {
	const perBlock, others = 128, 16 << 20
	return int64(c.MaxText) + perBlock*int64(c.MaxBlocks) + others
}

// asFile returns a file that a child can inherit: the blob's own, if it is one.
func (c Config) asFile(blob store.Blob) (*os.File, error) {
	if file, ok := share(blob); ok {
		return file, nil
	}
	file, err := c.temporary()
	if err != nil {
		return nil, err
	}
	if err := fill(file, blob); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// temporary makes a file that is gone when it is closed.
func (c Config) temporary() (*os.File, error) {
	file, err := os.CreateTemp(c.TempDir, "ragagent-parse-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	// The name is not needed; where it cannot be removed now, the system will.
	_ = os.Remove(file.Name())
	return file, nil
}

// fill copies a blob into a file.
func fill(file *os.File, blob store.Blob) error {
	_, err := io.Copy(io.NewOffsetWriter(file, 0), io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		return fmt.Errorf("copy the file for its parser: %w", err)
	}
	return nil
}

// Causes that end a child.
var (
	errStalled = errors.New("stalled")
	errTimeout = errors.New("timed out")
)

// crash is the end of a child that did not finish its work.
type crash struct {
	err     error // wraps a sentinel of this package
	started bool  // it had begun to work on the file
}

func (c *crash) Error() string { return c.err.Error() }
func (c *crash) Unwrap() error { return c.err }

// run has a child read the file and hands its frames to each until the child is
// done. What the child says to be wrong with the file is returned as it is; a
// *crash is returned if it ended without saying so. An error of each ends the
// child and is returned.
func (s *session) run(ctx context.Context, t task, each func(frame) error) error {
	t.Memory, t.Size = s.cfg.Memory, s.blob.Size()
	t.MaxText, t.MaxBlocks = s.cfg.MaxText, s.cfg.MaxBlocks
	t.Seconds = int(math.Ceil(s.cfg.Timeout.Seconds()))
	w, err := s.worker(t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unwatch := context.AfterFunc(ctx, w.kill)
	stall := time.AfterFunc(s.cfg.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	c := conversation{each: each, left: &s.left, hello: w.greeted, progress: func() { stall.Reset(s.cfg.Stall) }}
	if err := c.read(w.answers); err != nil {
		cancel(err)
	}
	w.greeted = c.hello
	if (c.failure != nil || c.done) && unwatch() {
		s.pool.put(w, c.last)
		return c.failure
	}
	unwatch()
	state, stderr := w.end()
	switch {
	case c.failure != nil || c.done:
		return c.failure
	case !c.hello && ctx.Err() == nil:
		return fmt.Errorf("the parser child did not start (%s): does %s call parse.ChildMain first? %s",
			state, s.cfg.Executable, firstLine(stderr))
	}
	return s.verdict(context.Cause(ctx), c.hello, state, stderr)
}

// worker returns a child that has been asked to do t: one of the pool, or, for
// a file that is not small, one of its own.
func (s *session) worker(t task) (*worker, error) {
	if pooling && s.blob.Size() <= maxPooled {
		return s.pool.take(t, s.blob)
	}
	if s.file == nil {
		file, err := s.cfg.asFile(s.blob)
		if err != nil {
			return nil, err
		}
		s.file = file
	}
	return s.cfg.start(t, s.file)
}

// verdict says why a child ended before its work was done. cause is nil if the
// parent did not end it.
func (s *sandbox) verdict(cause error, hello bool, state *os.ProcessState, stderr string) error {
	switch {
	case errors.Is(cause, errStalled):
		return &crash{fmt.Errorf("%w: one step took longer than %s", ErrLimit, s.cfg.Stall), hello}
	case errors.Is(cause, errTimeout):
		return fmt.Errorf("%w: it took longer than %s", ErrLimit, s.cfg.Timeout)
	case cause != nil:
		return cause
	case outOfMemory(stderr):
		return &crash{fmt.Errorf("%w: it needs more than %d MB of memory", ErrLimit, s.cfg.Memory>>20), true}
	case strings.Contains(stderr, "stack overflow") || strings.Contains(stderr, "stack exceeds"):
		return &crash{fmt.Errorf("%w: it is nested too deeply", ErrDamaged), true}
	case killedBySystem(state) || strings.Contains(stderr, outOfTime):
		return &crash{fmt.Errorf("%w: it needs too much processor time or memory", ErrLimit), true}
	}
	return &crash{fmt.Errorf("%w: its parser crashed (%s)", ErrDamaged, firstLine(stderr)), true}
}

// outOfMemory recognises the ways in which Go's runtime says so, the last under
// the race detector.
func outOfMemory(stderr string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "address space collisions"} {
		if strings.Contains(stderr, words) {
			return true
		}
	}
	return false
}

// conversation reads what a child says.
type conversation struct {
	each     func(frame) error
	progress func()
	left     *int64 // bytes that may still be said
	hello    bool
	done     bool
	last     bool  // the child will take no other file
	failure  error // what the child says to be wrong
}

// read reads until the child has said its last word or closed its end; an
// error means that there is no point in listening on.
func (c *conversation) read(r io.Reader) error {
	l := listener{from: r, left: c.left}
	for {
		f, err := l.next()
		if errors.Is(err, errBadFrame) || errors.Is(err, errTalk) {
			return err
		}
		if err != nil {
			return nil //nolint:nilerr // the child's exit status tells why it fell silent
		}
		c.progress()
		switch {
		case f.Hello:
			c.hello = true
		case f.Failure != nil:
			c.failure, c.last = f.Failure.err(), f.Last
			return nil
		case f.Done:
			c.done, c.last = true, f.Last
			return nil
		default:
			if err := c.each(f); err != nil {
				return err
			}
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 200)]
}

// outOfTime is what a child says that passed its processor time.
const outOfTime = "out of processor time"
