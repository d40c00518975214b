package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReindexCommand cuts a knowledge base anew.
func TestReindexCommand(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := folder{t, t.TempDir()}
	f.write("a.md", strings.Repeat("The owl is called Minerva. ", 100))
	runs(t, "ingest", "--data", data, "--kb", "kb", f.dir)
	if out := runs(t, "reindex", "--data", data, "--kb", "kb"); out != "1 of 1 documents made anew, 0 skipped\n" {
		t.Errorf("got %q", out)
	}
	if out := runs(t, "search", "--data", data, "--kb", "kb", "Minerva"); !strings.Contains(out, "Minerva") {
		t.Errorf("got %q", out)
	}
	if code, _, msg := command(t, "reindex", "--data", data, "--kb", "none"); code != exitFailed || !strings.Contains(msg, `there is no knowledge base "none"`) {
		t.Errorf("%d %s", code, msg)
	}
	runs(t, "verify", "--data", data)
}
