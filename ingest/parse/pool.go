package parse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"ragagent/store"
)

// Bounds of the pool.
const (
	maxPooled   = 8 << 20          // bytes of a file; others have a child of their own
	maxFiles    = 200              // that one child reads
	maxIdleTime = 20 * time.Second // until a child with nothing to do is ended
)

// pool keeps children that have finished a file for the next one: starting one
// costs more than reading a small file. A child reads its files from a scratch
// file it has from the start, so that it needs no right to open any.
type pool struct {
	cfg Config

	mu     sync.Mutex
	idle   []*worker // the latest last
	closed bool
}

// worker is a child process.
type worker struct {
	cmd     *exec.Cmd
	answers *os.File // frames that the child writes
	stderr  *os.File
	leash   *os.File // the child ends when this is closed, as it is with this process; may be nil
	greeted bool     // its Hello has been read

	// Of a pooled child.
	orders  *os.File // tasks that it is to do
	scratch *os.File
	files   int
	expiry  *time.Timer
}

// take returns a child that has been asked to read a blob.
func (p *pool) take(t task, blob store.Blob) (*worker, error) {
	for {
		w := p.pop()
		if w == nil {
			break
		}
		err := w.ask(t, blob)
		if err == nil {
			return w, nil
		}
		w.end() // it has died meanwhile
		if !errors.Is(err, errGone) {
			return nil, err
		}
	}
	w, err := p.cfg.startPooled(t)
	if err != nil {
		return nil, err
	}
	if err := w.ask(t, blob); err != nil && !errors.Is(err, errGone) {
		w.end()
		return nil, err
	} // why it is gone will show when its answer is read
	return w, nil
}

func (p *pool) pop() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	w.expiry.Stop()
	return w
}

// put keeps a child that has done its task, unless it is to be the last.
func (p *pool) put(w *worker, last bool) {
	if w.scratch == nil || last || w.files >= maxFiles || w.scratch.Truncate(0) != nil {
		w.end()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.end()
		return
	}
	w.expiry = time.AfterFunc(maxIdleTime, func() { p.expire(w) })
	p.idle = append(p.idle, w)
}

// expire ends a child that had nothing to do.
func (p *pool) expire(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			w.kill()
			w.end()
			return
		}
	}
}

// close ends the children that have nothing to do; those at work end with it.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.expiry.Stop()
		w.kill()
		w.end()
	}
	p.idle = nil
}

// errGone says that a child takes no orders any more.
var errGone = errors.New("the parser child is gone")

// ask gives a pooled child a file and what to do with it.
func (w *worker) ask(t task, blob store.Blob) error {
	if err := fill(w.scratch, blob); err != nil {
		return err
	}
	w.files++
	if err := writeOrder(w.orders, t); err != nil {
		return errGone
	}
	return nil
}

// start starts a child that does one task on a file, its standard input.
func (c Config) start(t task, file *os.File) (*worker, error) {
	return c.launch(t, file)
}

// startPooled starts a child that takes orders. t sets the limits for all.
func (c Config) startPooled(t task) (*worker, error) {
	scratch, err := c.scratch()
	if err != nil {
		return nil, err
	}
	orders, write, err := os.Pipe()
	if err != nil {
		scratch.Close()
		return nil, fmt.Errorf("start the parser child: %w", err)
	}
	defer orders.Close()
	t = task{Pooled: true, Memory: t.Memory, Seconds: t.Seconds}
	w, err := c.launch(t, scratch, orders)
	if err != nil {
		scratch.Close()
		write.Close()
		return nil, err
	}
	w.orders, w.scratch = write, scratch
	return w, nil
}

// launch starts a child with nothing of ours but its files.
func (c Config) launch(t task, stdin *os.File, extra ...*os.File) (*worker, error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("describe the task: %w", err)
	}
	answers, stdout, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the parser child: %w", err)
	}
	defer stdout.Close()
	complaints, stderr, err := os.Pipe()
	if err != nil {
		answers.Close()
		return nil, fmt.Errorf("start the parser child: %w", err)
	}
	defer stderr.Close()
	// It ends when its work is done, its orders end, or it is killed: no context
	// of one file is the child's.
	cmd := exec.CommandContext(context.Background(), c.Executable, childArgument, string(arg))
	cmd.Env = []string{"GOTRACEBACK=none"} // why it dies fits into the pipe
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	w := &worker{cmd: cmd, answers: answers, stderr: complaints}
	if pooling { // descriptors can be inherited
		held, leash, err := os.Pipe()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("start the parser child: %w", err)
		}
		defer held.Close()
		w.leash, cmd.ExtraFiles = leash, append([]*os.File{held}, extra...)
	}
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		w.close()
		return nil, fmt.Errorf("start the parser child: %w", err)
	}
	return w, nil
}

// kill ends the process; that it has ended already is no fault.
func (w *worker) kill() { _ = w.cmd.Process.Kill() }

const maxStderr = 8 << 10

// end makes an end of the child and returns its last words. It may be ending by
// itself already.
func (w *worker) end() (state *os.ProcessState, stderr string) {
	// One that has closed its answers is about to say why, and to die.
	last := time.AfterFunc(time.Second, w.kill)
	w.orders.Close() // nil unless it is pooled
	w.answers.Close()
	words, _ := io.ReadAll(io.LimitReader(w.stderr, maxStderr)) // what there is of them
	w.kill()
	_ = w.cmd.Wait() // how it ended is in its state
	last.Stop()
	w.close()
	return w.cmd.ProcessState, string(words)
}

// close closes the own ends of what leads to the child; those that were never
// made are nil, which Close answers with an error.
func (w *worker) close() {
	for _, f := range []*os.File{w.answers, w.stderr, w.leash, w.orders, w.scratch} {
		_ = f.Close()
	}
}
