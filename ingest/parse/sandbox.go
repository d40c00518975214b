package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"
)

// sandbox runs parsers in child processes of this program, one per file.
type sandbox struct {
	cfg    Config
	places chan struct{}
}

func newSandbox(cfg Config) (*sandbox, error) {
	if cfg.Executable == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the own program: %w", err)
		}
		cfg.Executable = self
	}
	return &sandbox{cfg: cfg, places: make(chan struct{}, cfg.Children)}, nil
}

// enter waits for a place among the children at work.
func (s *sandbox) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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

// run starts a child on file and hands its frames to each until the child is
// done. What the child says to be wrong with the file is returned as it is; a
// *crash is returned if it ended without saying so. An error of each ends the
// child and is returned.
func (s *sandbox) run(ctx context.Context, t task, file *os.File, each func(frame) error) error {
	t.Memory = s.cfg.Memory
	t.MaxText, t.MaxBlocks = s.cfg.MaxText, s.cfg.MaxBlocks
	t.Seconds = int(math.Ceil(s.cfg.Timeout.Seconds()))
	arg, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("describe the task: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stderr tail
	cmd := exec.CommandContext(ctx, s.cfg.Executable, childArgument, string(arg))
	cmd.Env = []string{} // nothing of ours is its business
	cmd.Stdin = file
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the parser child: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the parser child: %w", err)
	}
	stall := time.AfterFunc(s.cfg.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	c := conversation{each: each, progress: func() { stall.Reset(s.cfg.Stall) }}
	if err := c.read(stdout); err != nil {
		cancel(err)
	}
	waitErr := cmd.Wait()
	switch {
	case c.failure != nil:
		return c.failure
	case c.done:
		return nil
	case !c.hello && ctx.Err() == nil:
		return fmt.Errorf("the parser child did not start (%w): does %s call parse.ChildMain first? %s",
			waitErr, s.cfg.Executable, firstLine(stderr.String()))
	}
	return s.verdict(context.Cause(ctx), c.hello, cmd.ProcessState, stderr.String())
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
	case killedBySystem(state):
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
	hello    bool
	done     bool
	failure  error // what the child says to be wrong
}

// maxConversation bounds all frames of a child together, in bytes.
const maxConversation = 1 << 30

// read reads until the child has said its last word or closed its end; an
// error means that there is no point in listening on.
func (c *conversation) read(r io.Reader) error {
	r = io.LimitReader(r, maxConversation)
	for {
		f, err := readFrame(r, maxFrame)
		if errors.Is(err, errBadFrame) {
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
			c.failure = f.Failure.err()
			return nil
		case f.Done:
			c.done = true
			return nil
		default:
			if err := c.each(f); err != nil {
				return err
			}
		}
	}
}

// tail keeps the beginning of what is written to it, where Go's runtime says
// why a process dies.
type tail struct{ buf bytes.Buffer }

const maxStderr = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	if room := maxStderr - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 200)]
}
