package quickjs

import (
	_ "embed" // of the prelude
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/libquickjs"
	"modernc.org/quickjs"

	"ragagent/agent/codeact"
)

// childArgument starts this process as an interpreter. It looks like a flag, so
// that a program which does not call ChildMain refuses to start with it.
const childArgument = "-ragagent-code-child"

// IsChild says whether this process was started to run code.
func IsChild() bool { return len(os.Args) == 2 && os.Args[1] == childArgument }

// ChildMain runs the code that the parent sends and ends the process, if this
// process was started for that; else it returns at once. Every program that
// uses an Interpreter calls it before anything else.
func ChildMain() {
	if !IsChild() {
		return
	}
	if err := runChild(newWire(os.Stdin, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

//go:embed prelude.js
var prelude string

func runChild(w *wire) error {
	if leashes {
		go leashed(os.NewFile(3, "leash"))
	}
	if err := w.write(line{Hello: true}); err != nil {
		return err
	}
	var t task
	if err := w.read(&t); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	debug.SetMemoryLimit(t.Memory)
	if err := confine(t); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	p := &program{task: t, wire: w, began: time.Now()}
	outcome, err := p.run()
	if err != nil {
		return err
	}
	outcome.Printed = p.printed.String()
	return w.write(line{Outcome: &outcome})
}

// leashed ends this process when the other end is closed: the parent was killed.
func leashed(leash *os.File) {
	_, _ = leash.Read(make([]byte, 1)) // nothing is ever written
	os.Exit(1)
}

// program is code while it runs.
type program struct {
	task
	wire    *wire
	began   time.Time
	waited  atomic.Int64 // ns within calls
	calling atomic.Bool
	printed strings.Builder
	full    bool
	broken  error // the parent does not answer any more
}

// run evaluates the code. An error is not the code's.
func (p *program) run() (codeact.Outcome, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return codeact.Outcome{}, fmt.Errorf("start the interpreter: %w", err)
	}
	// It is not closed: after running out of memory that is not safe, and the
	// process ends in a moment.
	vm.SetMemoryLimit(uintptr(p.Memory))
	if err := p.prepare(vm); err != nil {
		return codeact.Outcome{}, err
	}
	stop := make(chan struct{})
	defer close(stop)
	go p.watch(vm, stop)
	out := p.eval(vm)
	return out, p.broken
}

// watch interrupts code that works for too long.
func (p *program) watch(vm *quickjs.VM, stop <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if !p.calling.Load() && p.worked() > time.Duration(p.Seconds)*time.Second {
				vm.Interrupt()
			}
		}
	}
}

func (p *program) worked() time.Duration {
	return time.Since(p.began) - time.Duration(p.waited.Load())
}

// prepare gives the code its functions.
func (p *program) prepare(vm *quickjs.VM) error {
	functions, err := json.Marshal(p.Functions)
	if err != nil {
		return err
	}
	if err := vm.RegisterHostFunc("__host", p.host); err != nil {
		return err
	}
	if err := vm.RegisterHostFunc("__say", p.say); err != nil {
		return err
	}
	_, err = vm.Eval("globalThis.__functions = "+string(functions)+";\n"+prelude, quickjs.EvalGlobal)
	return err
}

// say is print of the prelude.
func (p *program) say(args []any) (any, error) {
	text, _ := args[0].(string)
	if room := p.Output - p.printed.Len(); len(text) > room {
		if !p.full {
			p.printed.WriteString(strings.ToValidUTF8(text[:max(room, 0)], "") + "\n(more was printed than there is room for)\n")
		}
		p.full = true
		return nil, nil
	}
	if !p.full {
		p.printed.WriteString(text)
	}
	return nil, nil
}

// host calls a tool through the parent and returns an answer as JSON.
func (p *program) host(args []any) (any, error) {
	name, _ := args[0].(string)
	text, _ := args[1].(string)
	began := time.Now()
	p.calling.Store(true)
	defer func() {
		p.waited.Add(int64(time.Since(began)))
		p.calling.Store(false)
	}()
	if p.broken != nil {
		return nil, p.broken
	}
	err := p.wire.write(line{Function: name, Args: json.RawMessage(text)})
	if errors.Is(err, errLongLine) {
		return nil, errors.New("the arguments are too long")
	}
	var a answer
	if err == nil {
		err = p.wire.read(&a)
	}
	if err != nil {
		p.broken = err
		return nil, err
	}
	raw, err := json.Marshal(a)
	return string(raw), err
}

// evaluate has the code wait for its promise, and hands its value to __show.
const evaluate = `globalThis.__result = undefined;
__promise.then(function (r) { globalThis.__result = { value: __show(r.value) }; },
  function (e) { globalThis.__result = { error: String(e), stack: e && e.stack ? String(e.stack) : "" }; });
delete globalThis.__promise;`

// eval runs the code to its end: as a script in which await is allowed.
func (p *program) eval(vm *quickjs.VM) codeact.Outcome {
	promise, err := vm.EvalValue(p.Code, quickjs.EvalGlobal|libquickjs.MJS_EVAL_FLAG_ASYNC)
	if err != nil {
		return p.failed(err)
	}
	name, err := vm.NewAtom("__promise")
	if err == nil {
		err = vm.SetPropertyValue(vm.GlobalObject(), name, promise)
	}
	if err == nil {
		_, err = vm.Eval(evaluate, quickjs.EvalGlobal)
	}
	if err == nil {
		_, err = vm.ExecutePendingJobs()
	}
	if err != nil {
		return p.failed(err)
	}
	got, err := vm.Eval("JSON.stringify(globalThis.__result)", quickjs.EvalGlobal)
	if err != nil {
		return p.failed(err)
	}
	text, ok := got.(string)
	if !ok {
		return codeact.Outcome{Error: "the code waits for something that never happens"}
	}
	var result struct{ Value, Error, Stack string }
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		return codeact.Outcome{Error: "its value cannot be shown"}
	}
	return codeact.Outcome{Value: result.Value, Error: p.located(result.Error, result.Stack)}
}

// failed puts an exception into words.
func (p *program) failed(err error) codeact.Outcome {
	var e *quickjs.Error
	if !errors.As(err, &e) {
		return codeact.Outcome{Error: err.Error()}
	}
	message := strings.TrimSpace(strings.Split(e.Error(), "\n")[0])
	if e.LineNumber > 0 {
		return codeact.Outcome{Error: fmt.Sprintf("%s (line %d, column %d)", message, e.LineNumber, e.ColumnNumber)}
	}
	return codeact.Outcome{Error: p.located(message, e.Stack)}
}

// frame is a place in the code.
var frame = regexp.MustCompile(`<eval>:(\d+)(?::(\d+))?`)

// located adds the line to an error.
func (p *program) located(message, stack string) string {
	switch {
	case message == "":
		return ""
	case strings.Contains(message, "interrupted"):
		return fmt.Sprintf("the code worked for more than %d s and was stopped", p.Seconds)
	case strings.Contains(message, "out of memory"):
		return fmt.Sprintf("the code needs more than %d MB of memory", p.Memory>>20)
	}
	if at := frame.FindStringSubmatch(stack); at != nil {
		message += " (line " + at[1]
		if at[2] != "" {
			message += ", column " + at[2]
		}
		message += ")"
	}
	return message
}
