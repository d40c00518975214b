package ingest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ragagent/ingest"
	"ragagent/ingest/parse"
	"ragagent/store"
)

// poisonFolder names, in the environment of a process that this test starts, the
// data folder to work on.
const poisonFolder = "RAGAGENT_TEST_POISON"

// poisonable ends its process when it parses a text that says so.
type poisonable struct{ parser }

func (p *poisonable) Parse(ctx context.Context, name string, file store.Blob) (parse.Text, error) {
	text, err := p.parser.Parse(ctx, name, file)
	if strings.HasPrefix(text.Body, "poison") {
		endProcess()
	}
	return text, err
}

// cutShort ends its process with every second batch: the one before is stored.
type cutShort struct {
	embedder
	batches int
}

func (e *cutShort) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if strings.Contains(texts[0], "long") {
		if e.batches++; e.batches == 2 {
			endProcess()
		}
	}
	return e.embedder.Embed(ctx, texts)
}

func endProcess() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// TestPoison: a document that ends the server whenever it is read is given up,
// one that is cut off again and again but gets further each time is not, nor is
// what happens to be read beside them.
func TestPoison(t *testing.T) {
	if dir := os.Getenv(poisonFolder); dir != "" {
		workOnPoison(t, dir)
		return
	}
	dir := t.TempDir()
	h := build(t, dir, nil)
	var err error
	if h.kb, err = h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "kb"}); err != nil {
		t.Fatal(err)
	}
	poison := h.submit(t, "poison.txt", "poison")
	beside := h.submit(t, "beside.txt", "beside")
	const batches = 15
	long := h.submit(t, "long.txt", strings.Repeat("long"+strings.Repeat(" story", 400)+".\n\n", 4*batches))
	h.close(t)

	ends := 0
	for ; ends < 100; ends++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPoison$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), poisonFolder+"="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("%v: %s", err, out)
		}
	}
	h = build(t, dir, nil)
	for id, want := range map[string]store.Status{
		poison.Job.ID: store.StatusFailed, beside.Job.ID: store.StatusReady, long.Job.ID: store.StatusReady,
	} {
		job, err := h.records.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.Status != want || (want == store.StatusFailed) != strings.HasPrefix(job.Error, "gave up after 10 attempts that got no further") {
			t.Errorf("after %d ends: %+v", ends, job)
		}
	}
	if ends < 10+batches-2 {
		t.Errorf("%d ends: the process was not ended as often as it should have been", ends)
	}
}

// workOnPoison is what a server does with the folder; it returns if it lives to
// see all jobs ended.
func workOnPoison(t *testing.T, dir string) {
	h := build(t, dir, func(cfg *ingest.Config) {
		cfg.Parser, cfg.Embedder, cfg.Wary = &poisonable{}, &cutShort{}, 100*time.Millisecond
	})
	h.start(t)
	jobs, err := h.records.Jobs(t.Context(), store.JobFilter{}, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		h.end(t, job.ID)
	}
}
