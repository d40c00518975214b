package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEvaluationsOverHTTP: questions with what is relevant are measured by a
// server on its own documents, and the figures outlive it.
func TestEvaluationsOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	data := filepath.Join(t.TempDir(), "data")
	files := writeFolder(t, map[string]string{
		"tomato.md": "# Tomatoes\n\nTomatoes are watered every second evening.\n",
		"bees.md":   "# Bees\n\nThe hive stands behind the shed and faces south.\n",
	})
	runs(t, "ingest", "--data", data, "--kb", "garden", files)
	srv := startServer(t, data)
	api := srv.client()
	var made struct {
		ID, Status, Error string
		Figures           map[string]any
		Warnings          []string
	}
	must(t, api.post(t.Context(), "/api/v1/evaluations", map[string]any{
		"knowledge_bases": []string{"garden"},
		"queries":         map[string]string{"q1": "how often are tomatoes watered?", "q2": "where does the hive stand?"},
		"qrels":           map[string]map[string]int{"q1": {"tomato.md": 1}, "q2": {"bees.md": 1, "nothing.md": 1}},
		"metrics":         []string{"success@1", "recall@10"},
	}, &made))
	for made.Status == "queued" || made.Status == "running" {
		select {
		case <-t.Context().Done():
			t.Fatal("it has not ended")
		case <-time.After(5 * time.Millisecond):
		}
		must(t, api.get(t.Context(), "/api/v1/evaluations/"+made.ID, &made))
	}
	if made.Status != "ready" || made.Figures["success@1"] != 1.0 || made.Figures["recall@10"] != .75 || len(made.Warnings) != 1 {
		t.Errorf("%+v", made)
	}
	srv.kill()
	srv = startServer(t, data)
	api = srv.client()
	before := made
	must(t, api.get(t.Context(), "/api/v1/evaluations/"+made.ID, &made))
	if made.Status != "ready" || made.Figures["success@1"] != before.Figures["success@1"] {
		t.Errorf("after a kill: %+v", made)
	}
	srv.kill()
	runs(t, "verify", "--data", data)
}

// TestEvalDraft drafts questions, strikes one out, and evaluates the rest.
func TestEvalDraft(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	files := writeFolder(t, map[string]string{
		"tower.md":  "# Tower\n\nThe lighthouse at the northern cape was finished in 1931 by the harbour board.\n",
		"bridge.md": "# Bridge\n\nThe wooden bridge across the river was opened in 1902 after a long delay.\n",
	})
	if code, _, msg := command(t, "ingest", "--data", data, "--kb", "coast", files); code != exitOK {
		t.Fatal(msg)
	}
	out := filepath.Join(t.TempDir(), "drafts")
	code, stdout, msg := command(t, "eval", "draft", "--data", data, "--kb", "coast", "--out", out)
	if code != exitOK || !strings.HasPrefix(stdout, "2 questions from 2 documents") {
		t.Fatalf("exit %d: %s\n%s", code, stdout, msg)
	}
	queries := filepath.Join(out, "queries.jsonl")
	drafted := fileText(t, queries)
	for _, want := range []string{"was finished in what year by", "was opened in what year after", `"accepted":null`} {
		if !strings.Contains(drafted, want) {
			t.Errorf("no %q in\n%s", want, drafted)
		}
	}
	if err := os.WriteFile(queries, []byte(strings.Replace(drafted, `"accepted":null`, `"accepted":false`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, msg = command(t, "eval", "--dataset", out, "--json", "--fail-under", "success@1=1")
	var sum struct{ Queries int }
	if err := json.Unmarshal([]byte(stdout), &sum); code != exitOK || err != nil || sum.Queries != 1 {
		t.Errorf("exit %d: %s\n%s", code, stdout, msg)
	}
	for _, want := range []string{"1 questions are struck out", "1 questions are drafts that nobody has accepted"} {
		if !strings.Contains(msg, want) {
			t.Errorf("not said: %q\n%s", want, msg)
		}
	}
	// The same questions, asked of the knowledge base they were drafted from.
	report, rows := filepath.Join(t.TempDir(), "report"), filepath.Join(t.TempDir(), "rows.jsonl")
	code, stdout, msg = command(t, "eval", "--dataset", out, "--kb", "coast", "--data", data, "--json", "--fail-under", "mrr=1.1", "--per-query", rows, "--report", report)
	if err := json.Unmarshal([]byte(stdout), &sum); code != exitFailed || err != nil || sum.Queries != 1 || !strings.Contains(msg, "mrr is 1.0000, below 1.1") {
		t.Errorf("exit %d: %s\n%s", code, stdout, msg)
	}
	if !strings.Contains(fileText(t, rows), `"mrr":1`) || !strings.Contains(fileText(t, filepath.Join(report, "report.html")), "<svg") {
		t.Errorf("rows %s", fileText(t, rows))
	}
	if code, _, msg := command(t, "eval", "--dataset", out, "--kb", "coast", "--data", data, "--run", rows); code != exitUsage {
		t.Errorf("a run file: exit %d\n%s", code, msg)
	}
	if code, _, msg := command(t, "eval", "draft", "--data", data, "--kb", "coast", "--out", out); code != exitFailed || !strings.Contains(msg, "there already") {
		t.Errorf("twice: exit %d\n%s", code, msg)
	}
	if code, _, _ := command(t, "eval", "draft", "--data", data, "--kb", "coast", "--out", out, "--limit", "-1"); code != exitUsage {
		t.Errorf("a negative limit: exit %d", code)
	}
	if code, _, _ := command(t, "eval", "draft", "--data", data, "--kb", "none", "--out", out+"2"); code != exitFailed {
		t.Errorf("no such knowledge base: exit %d", code)
	}
}
