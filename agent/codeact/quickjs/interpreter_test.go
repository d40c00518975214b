package quickjs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/agent/codeact"
	"ragagent/agent/codeact/quickjs"
)

func TestMain(m *testing.M) {
	quickjs.ChildMain()
	goleak.VerifyTestMain(m)
}

func newInterpreter(t *testing.T, cfg quickjs.Config) *quickjs.Interpreter {
	t.Helper()
	i, err := quickjs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// add adds two numbers, and fails for negative ones.
var add = codeact.Function{Name: "add", Parameters: []string{"a", "b"}}

func sum(_ context.Context, function string, raw json.RawMessage) (json.RawMessage, error) {
	var args struct{ A, B float64 }
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	if function != "add" || args.A < 0 {
		return nil, fmt.Errorf("%s cannot work with %v", function, args.A)
	}
	return json.Marshal(map[string]any{"sum": args.A + args.B})
}

func TestPrograms(t *testing.T) {
	i := newInterpreter(t, quickjs.Config{Work: time.Second, Memory: 32 << 20})
	for name, tt := range map[string]struct {
		code string
		want codeact.Outcome
	}{
		"value":         {"1 + 1", codeact.Outcome{Value: "2"}},
		"text":          {"'tide'", codeact.Outcome{Value: "tide"}},
		"object":        {"({a: [1, null]})", codeact.Outcome{Value: `{"a":[1,null]}`}},
		"nothing":       {"let x = 1;", codeact.Outcome{}},
		"print":         {"print('a', 1, {b: 2}); console.log([3]); undefined", codeact.Outcome{Printed: "a 1 {\"b\":2}\n[3]\n"}},
		"call":          {"add({a: 1, b: 2}).sum", codeact.Outcome{Value: "3"}},
		"by position":   {"add(1, 2).sum", codeact.Outcome{Value: "3"}},
		"await":         {"const r = await add(1, 2);\nr.sum", codeact.Outcome{Value: "3"}},
		"loop of calls": {"let s = 0; for (let i = 0; i < 20; i++) s = add(s, i).sum; s", codeact.Outcome{Value: "190"}},
		"async":         {"const f = async () => { const r = await add(1, 1); return r.sum }; await f()", codeact.Outcome{Value: "2"}},
		"caught":        {"try { add(-1, 2) } catch (e) { e.message }", codeact.Outcome{Value: "add cannot work with -1"}},
		"thrown":        {"let x = 1\nadd(-1, 2)", codeact.Outcome{Error: "Error: add cannot work with -1 (line 2, column 4)"}},
		"too many":      {"add(1, 2, 3)", codeact.Outcome{Error: "TypeError: add takes 2 arguments (line 1, column 4)"}},
		"syntax":        {"let x = 1;\nlet y = ;", codeact.Outcome{Error: "SyntaxError: unexpected token in expression: ';' (line 2, column 9)"}},
		"reference":     {"print('before');\n\nnope()", codeact.Outcome{Printed: "before\n", Error: "ReferenceError: 'nope' is not defined (line 3, column 1)"}},
		"own error":     {"throw new Error('no')", codeact.Outcome{Error: "Error: no (line 1, column 16)"}},
		"never":         {"await new Promise(() => {})", codeact.Outcome{Error: "the code waits for something that never happens"}},
		"endless":       {"print('a'); while (true) {}", codeact.Outcome{Printed: "a\n", Error: "the code worked for more than 1 s and was stopped"}},
		"memory":        {"const a = []; while (true) a.push('x'.repeat(1 << 20) + a.length)", codeact.Outcome{Error: "the code needs more than 32 MB of memory"}},
		"no files":      {"typeof require + typeof process + typeof std + typeof os + typeof fetch", codeact.Outcome{Value: "undefinedundefinedundefinedundefinedundefined"}},
		"no import":     {"await import('std')", codeact.Outcome{Error: "ReferenceError: could not load module 'std'"}},
		"host is gone":  {"typeof __host + typeof __say + typeof __functions", codeact.Outcome{Value: "undefinedundefinedundefined"}},
		"Chinese":       {"'潮' + '汐'", codeact.Outcome{Value: "潮汐"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := i.Run(t.Context(), codeact.Program{Code: tt.code, Functions: []codeact.Function{add}, Call: sum})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeepRecursionEnds(t *testing.T) {
	got, err := newInterpreter(t, quickjs.Config{Work: time.Second}).Run(t.Context(), codeact.Program{Code: "const f = () => f() + 1; f()"})
	if err != nil || got.Error == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	got, err := newInterpreter(t, quickjs.Config{Output: 10}).Run(t.Context(), codeact.Program{Code: "for (let i = 0; i < 1000; i++) print('潮汐')"})
	want := "潮汐\n潮\n(more was printed than there is room for)\n"
	if err != nil || got.Printed != want {
		t.Errorf("%q, %v", got.Printed, err)
	}
}

func TestCancelledWhileCalling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newInterpreter(t, quickjs.Config{}).Run(ctx, codeact.Program{
		Code: "add(1, 2)", Functions: []codeact.Function{add},
		Call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestSecretsStayOutside: a child inherits no environment and cannot open files.
func TestSecretsStayOutside(t *testing.T) {
	t.Setenv("RAGAGENT_SECRET", "1234")
	got, err := newInterpreter(t, quickjs.Config{}).Run(t.Context(), codeact.Program{Code: "Object.getOwnPropertyNames(globalThis).join()"})
	if err != nil || strings.Contains(got.Value, "1234") || !strings.Contains(got.Value, "print") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestProgramThatIsNoInterpreter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho no such flag >&2\nexit 2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := newInterpreter(t, quickjs.Config{Executable: path}).Run(t.Context(), codeact.Program{Code: "1"})
	if err == nil || !strings.Contains(err.Error(), "quickjs.ChildMain") || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("%v", err)
	}
}
