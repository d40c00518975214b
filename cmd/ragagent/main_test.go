package main

import (
	"bytes"
	"context"
	"os"
	"testing"

	"ragagent/agent/codeact/quickjs"
	"ragagent/ingest/parse"
)

// asProgram, when set in the environment, makes the test binary be ragagent:
// tests can then start it, and kill it, as a process of its own.
const asProgram = "RAGAGENT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	quickjs.ChildMain()
	if parse.IsChild() {
		parse.ChildMain()
		return
	}
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command runs the command line in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, msg bytes.Buffer
	code = run(context.WithoutCancel(t.Context()), args, &out, &msg)
	return code, out.String(), msg.String()
}
