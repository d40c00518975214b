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

	"ragagent/store"
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

// session is the work of children on one file, one after the other. What they
// may do is bounded for all of them together.
type session struct {
	*sandbox
	file *os.File
	size int64
	left int64 // bytes that may still be said
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
	file, err := s.asFile(blob)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, errTimeout)
	defer cancel()
	return do(ctx, &session{sandbox: s, file: file, size: blob.Size(), left: s.cfg.maxTalk()})
}

// maxTalk bounds the bytes that all children of a file may say: its text, and
// what goes with each block or line of it.
func (c Config) maxTalk() int64 {
	const perBlock, others = 128, 16 << 20
	return int64(c.MaxText) + perBlock*int64(c.MaxBlocks) + others
}

// asFile returns a file that a child can inherit: the blob's own, if it is one.
func (s *sandbox) asFile(blob store.Blob) (*os.File, error) {
	if file, ok := share(blob); ok {
		return file, nil
	}
	return s.temporary(io.NewSectionReader(blob, 0, blob.Size()))
}

// temporary copies r into a file that is gone when it is closed.
func (s *sandbox) temporary(r io.Reader) (*os.File, error) {
	file, err := os.CreateTemp(s.cfg.TempDir, "ragagent-parse-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	// The name is not needed; where it cannot be removed now, the system will.
	_ = os.Remove(file.Name())
	if _, err := io.Copy(file, r); err != nil {
		file.Close()
		return nil, fmt.Errorf("copy the file for its parser: %w", err)
	}
	return file, nil
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

// run starts a child on the file and hands its frames to each until the child is
// done. What the child says to be wrong with the file is returned as it is; a
// *crash is returned if it ended without saying so. An error of each ends the
// child and is returned.
func (s *session) run(ctx context.Context, t task, each func(frame) error) error {
	t.Memory, t.Size = s.cfg.Memory, s.size
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
	cmd.Stdin = s.file
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
	c := conversation{each: each, left: &s.left, progress: func() { stall.Reset(s.cfg.Stall) }}
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
	left     *int64 // bytes that may still be said
	hello    bool
	done     bool
	failure  error // what the child says to be wrong
}

// read reads until the child has said its last word or closed its end; an
// error means that there is no point in listening on.
func (c *conversation) read(r io.Reader) error {
	for {
		f, err := readFrame(r, c.left)
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
