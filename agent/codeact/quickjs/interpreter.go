// Package quickjs runs JavaScript of models in child processes of this program:
// without files, network, environment or secrets, within memory and time.
package quickjs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"ragagent/agent/codeact"
)

// Config of an Interpreter. A zero field takes its default.
type Config struct {
	// Executable is the program that calls ChildMain first; "" means this one.
	Executable string
	Memory     int64         // bytes for the code's values; 64 MiB
	Work       time.Duration // processor time of the code, in whole seconds; 5 s
	Timeout    time.Duration // of a program with its calls; 2 minutes
	Output     int           // bytes that a program may print; 256 KiB
	Children   int           // at a time; 4
}

// Interpreter runs programs. It may be used concurrently.
type Interpreter struct {
	cfg    Config
	places chan struct{}
}

var _ codeact.Interpreter = (*Interpreter)(nil)

// New makes an interpreter; a negative limit is an error.
func New(cfg Config) (*Interpreter, error) {
	if cfg.Memory < 0 || cfg.Work < 0 || cfg.Timeout < 0 || cfg.Output < 0 || cfg.Children < 0 {
		return nil, errors.New("quickjs: limits may not be negative")
	}
	if cfg.Executable == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the own program: %w", err)
		}
		cfg.Executable = self
	}
	if cfg.Memory == 0 {
		cfg.Memory = 64 << 20
	}
	if cfg.Work == 0 {
		cfg.Work = 5 * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Minute
	}
	if cfg.Output == 0 {
		cfg.Output = 256 << 10
	}
	if cfg.Children == 0 {
		cfg.Children = 4
	}
	return &Interpreter{cfg: cfg, places: make(chan struct{}, cfg.Children)}, nil
}

// Run implements codeact.Interpreter.
func (i *Interpreter) Run(ctx context.Context, p codeact.Program) (codeact.Outcome, error) {
	select {
	case i.places <- struct{}{}:
		defer func() { <-i.places }()
	case <-ctx.Done():
		return codeact.Outcome{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, i.cfg.Timeout, fmt.Errorf("the code took longer than %s", i.cfg.Timeout))
	defer cancel()
	c, err := i.start(ctx)
	if err != nil {
		return codeact.Outcome{}, fmt.Errorf("start the interpreter: %w", err)
	}
	outcome, err := i.converse(ctx, c.wire, p)
	complaints := c.end()
	switch {
	case err == nil:
		return outcome, nil
	case ctx.Err() != nil:
		return codeact.Outcome{}, context.Cause(ctx)
	case !c.greeted:
		return codeact.Outcome{}, fmt.Errorf("the interpreter did not start: does %s call quickjs.ChildMain first? %s", i.cfg.Executable, complaints)
	}
	return codeact.Outcome{Error: i.verdict(complaints)}, nil
}

// verdict says why a child ended before its program did.
func (i *Interpreter) verdict(complaints string) string {
	if strings.Contains(complaints, "memory") {
		return fmt.Sprintf("the code needs more than %d MB of memory", i.cfg.Memory>>20)
	}
	return "the code was stopped: it needs too much time or memory, or recurses too deeply"
}

// child is a process that runs one program.
type child struct {
	*wire
	cmd     *exec.Cmd
	leash   *os.File // nil where there is none
	stderr  bytes.Buffer
	greeted bool
}

// start starts a child with nothing of ours: no environment, no files.
func (i *Interpreter) start(ctx context.Context) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, i.cfg.Executable, childArgument)}
	c.cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=2"}
	c.cmd.Stderr = &limited{to: &c.stderr, left: 4 << 10}
	c.cmd.WaitDelay = time.Second
	ownGroup(c.cmd)
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if leashes {
		held, leash, err := os.Pipe() // the child ends when leash is closed, as it is with this process
		if err != nil {
			return nil, err
		}
		defer held.Close()
		c.cmd.ExtraFiles, c.leash = []*os.File{held}, leash
	}
	c.wire = newWire(out, in)
	if err := c.cmd.Start(); err != nil {
		c.unleash()
		return nil, err
	}
	var hello line
	c.greeted = c.read(&hello) == nil && hello.Hello
	return c, nil
}

func (c *child) unleash() {
	if c.leash != nil {
		c.leash.Close()
	}
}

// end ends the child and returns what it complained about.
func (c *child) end() string {
	c.unleash()
	_ = c.cmd.Process.Kill() // it may have ended
	_ = c.cmd.Wait()         // how it ended does not matter: what it said does
	first, _, _ := strings.Cut(strings.TrimSpace(c.stderr.String()), "\n")
	return first
}

// converse hands the child its program and makes the calls it asks for.
func (i *Interpreter) converse(ctx context.Context, w *wire, p codeact.Program) (codeact.Outcome, error) {
	err := w.write(task{
		Code: p.Code, Functions: p.Functions, Memory: i.cfg.Memory, Seconds: max(1, int(i.cfg.Work.Seconds())), Output: i.cfg.Output,
	})
	for err == nil {
		var l line
		if err = w.read(&l); err != nil {
			break
		}
		if l.Outcome != nil {
			return *l.Outcome, nil
		}
		var a answer
		if a.Value, err = p.Call(ctx, l.Function, l.Args); err != nil {
			a = answer{Error: err.Error()}
		}
		if err = w.write(a); errors.Is(err, errLongLine) {
			err = w.write(answer{Error: "the result is too large for code"})
		}
	}
	return codeact.Outcome{}, err
}

// limited passes on the beginning of what it is given.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.to.Write(b[:n])
	l.left -= n
	return len(b), nil
}
