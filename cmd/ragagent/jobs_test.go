package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJobsCommand lists what failed, lets it be tried again, and lists it again.
func TestJobsCommand(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"good.txt": "A text.", "bad.bin": "\x00\x01\x02\x03\x04\x05"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, msg := command(t, "ingest", "--data", data, "--kb", "kb", dir); code != exitFailed {
		t.Fatalf("ingest: %d\n%s%s", code, out, msg)
	}
	list := func(args ...string) (lines []string) {
		t.Helper()
		code, out, msg := command(t, append([]string{"jobs", "--data", data}, args...)...)
		if code != exitOK {
			t.Fatalf("jobs %v: %d\n%s%s", args, code, out, msg)
		}
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	if got := list(); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "  ready ") {
		t.Errorf("all: %q", got)
	}
	if got := list("--failed", "--kb", "kb"); len(got) != 1 || !strings.Contains(got[0], "  failed ") || !strings.Contains(got[0], "binary") {
		t.Errorf("failed: %q", got)
	}
	if got := list("--retry"); len(got) != 1 || got[0] != "1 jobs queued again" {
		t.Errorf("retry: %q", got)
	}
	if code, _, msg := command(t, "jobs", "--data", data, "--kb", "none"); code != exitFailed || !strings.Contains(msg, `there is no knowledge base "none"`) {
		t.Errorf("a knowledge base that is not there: %d %s", code, msg)
	}
}

func TestJobState(t *testing.T) {
	left := int64(83_400)
	for want, j := range map[string]jobState{
		"":                                   {Status: "ready", Stage: "index", Done: 3, Total: 3},
		"no text found":                      {Status: "failed", Stage: "parse", Error: "no text found"},
		"parse":                              {Status: "running", Stage: "parse"},
		"embed 5400/10600, about 1m23s left": {Status: "running", Stage: "embed", Done: 5400, Total: 10_600, ETAMS: &left},
		"embed 1/2, waiting: next try in 8s": {Status: "queued", Stage: "embed", Done: 1, Total: 2, Waiting: "next try in 8s"},
	} {
		if got := j.state(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
