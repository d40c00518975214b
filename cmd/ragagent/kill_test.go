package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is ragagent as a process.
type server struct {
	cmd  *exec.Cmd
	base string
	once sync.Once
}

// startServer starts ragagent on a free port and waits until it is ready.
func startServer(t testing.TB, data string) *server {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--data", data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd}
	t.Cleanup(s.kill)
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), "is ready on "); ok {
				base, _, _ := strings.Cut(rest, " ")
				ready <- base
			}
		}
	}()
	select {
	case base, ok := <-ready:
		if !ok {
			t.Fatal("the server ended before it was ready")
		}
		s.base = base
	case <-time.After(30 * time.Second):
		t.Fatal("the server was not ready after 30 seconds")
	}
	return s
}

// kill is kill -9.
func (s *server) kill() { s.killing() }

// killing is kill, and returns the processes that the server had started.
func (s *server) killing() (children []int) {
	s.once.Do(func() {
		children = childrenOf(s.cmd.Process.Pid)
		_ = s.cmd.Process.Kill() // it may be gone already
		_ = s.cmd.Wait()
	})
	return children
}

// childrenOf lists the living processes that a process has started, where the
// system has /proc.
func childrenOf(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		var pid, ppid int
		var state string
		stat, _ := os.ReadFile(file) // PID (NAME) STATE PPID ...
		_, after, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(after, &state, &ppid); err != nil || ppid != parent || state == "Z" {
			continue
		}
		if _, err := fmt.Sscan(string(stat), &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parses says whether a process is a parser's.
func parses(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty of a zombie
	return err == nil && strings.Contains(string(line), "-ragagent-parse-child")
}

func (s *server) client() *client {
	return &client{http: &http.Client{Timeout: time.Minute}, base: s.base}
}

const killFiles = 300

// text is the content of file i: one sentence that no other file has.
func killText(i int) string {
	return fmt.Sprintf("# Report %d\n\nThe warehouse number %d holds exactly %d crates of item code%dx.\n\n%s\n",
		i, i, i*7+3, i, strings.Repeat("Crates are counted twice a year by two people. ", 30))
}

// TestKill sends 300 files over HTTP while questions are being asked, kills the
// server in the middle, more than once, and looks at what it left: nothing that
// was acknowledged is missing, nothing is there twice, the rest is finished.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes; not with -short")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Setenv("RAGAGENT_SAVE_INDEXES_EVERY", "5ms")
	k := &killRun{data: t.TempDir(), accepted: map[string]string{}}
	for round := range 4 {
		// Somewhere among the uploads, while what came before is ingested.
		stopAt := len(k.accepted) + 20 + random.IntN(60)
		k.round(t, stopAt)
		t.Logf("round %d: killed with %d files acknowledged", round, len(k.accepted))
	}
	k.round(t, 0)
	if code, out, msg := command(t, "verify", "--data", k.data); code != exitOK {
		t.Errorf("verify: %d\n%s%s", code, out, msg)
	}
}

// killRun is what is known on the client's side across kills.
type killRun struct {
	data string

	mu       sync.Mutex
	accepted map[string]string // file -> document id
}

// round starts a server and sends it every file that is not acknowledged yet.
// It kills the server when stopAt files are; with 0 it lets it finish and
// compares.
func (k *killRun) round(t *testing.T, stopAt int) {
	srv := startServer(t, k.data)
	defer srv.kill()
	api := srv.client()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var questions, uploads sync.WaitGroup
	defer questions.Wait()
	defer cancel()
	for range 3 {
		questions.Go(func() { ask(ctx, api) })
	}
	var kill sync.Once
	work := make(chan int)
	for range 4 {
		uploads.Go(func() {
			for i := range work {
				if n := k.send(ctx, t, api, i); stopAt > 0 && n >= stopAt {
					kill.Do(srv.kill)
				}
			}
		})
	}
	for i := range killFiles {
		work <- i
	}
	close(work)
	uploads.Wait()
	if stopAt == 0 {
		checkAfterKills(t, api, k.accepted)
	}
}

// send uploads file i unless it is acknowledged, and returns how many are. What
// fails is not acknowledged: it is sent again in the next round.
func (k *killRun) send(ctx context.Context, t *testing.T, api *client, i int) int {
	name := fmt.Sprintf("file-%03d.md", i)
	k.mu.Lock()
	_, done := k.accepted[name]
	k.mu.Unlock()
	if !done {
		if doc, err := api.upload(ctx, "kb", name, strings.NewReader(killText(i))); err == nil {
			k.mu.Lock()
			k.accepted[name] = doc.ID
			k.mu.Unlock()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.accepted)
}

// ask puts questions until ctx ends; the answers do not matter here.
func ask(ctx context.Context, api *client) {
	for i := 0; ctx.Err() == nil; i++ {
		_ = api.post(ctx, "/api/v1/retrieve", map[string]any{
			"query": fmt.Sprintf("crates in warehouse %d", i%killFiles), "knowledge_bases": []string{"kb"},
		}, nil)
		time.Sleep(5 * time.Millisecond)
	}
}

func checkAfterKills(t *testing.T, api *client, accepted map[string]string) {
	t.Helper()
	if len(accepted) != killFiles {
		t.Fatalf("%d files acknowledged in the end, want %d", len(accepted), killFiles)
	}
	docs := waitReady(t, api)
	if len(docs) != killFiles {
		t.Errorf("%d documents, want %d", len(docs), killFiles)
	}
	for name, id := range accepted {
		if docs[name] != id {
			t.Errorf("%s: acknowledged as %s, found %q", name, id, docs[name])
		}
	}
	for _, i := range []int{0, 17, 123, 299} {
		var r retrieved
		if err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{
			"query": fmt.Sprintf("code%dx", i), "knowledge_bases": []string{"kb"}, "top_k": 3,
		}, &r); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("file-%03d.md", i); len(r.Hits) == 0 || r.Hits[0].DocumentName != want {
			t.Errorf("code%dx: got %+v, want %s first", i, r.Hits, want)
		}
	}
}

// listedDocument is the part of a document's JSON that the tests read.
type listedDocument struct{ ID, Name, Status, Error string }

// eachDocument pages through a knowledge base.
func eachDocument(ctx context.Context, api *client, kb string, do func(listedDocument)) error {
	for cursor := ""; ; {
		var page struct {
			Data []listedDocument `json:"data"`
			Next string           `json:"next_cursor"`
		}
		if err := api.get(ctx, "/api/v1/knowledge-bases/"+kb+"/documents?limit=100&cursor="+cursor, &page); err != nil {
			return err
		}
		for _, d := range page.Data {
			do(d)
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// waitReady waits until no job is left and returns the documents' ids by name.
func waitReady(t *testing.T, api *client) map[string]string {
	t.Helper()
	var docs map[string]string
	eventually(t, func() bool {
		docs = map[string]string{}
		waiting := 0
		err := eachDocument(t.Context(), api, "kb", func(d listedDocument) {
			if other, ok := docs[d.Name]; ok {
				t.Errorf("%s is there twice: %s and %s", d.Name, other, d.ID)
			}
			docs[d.Name] = d.ID
			switch d.Status {
			case "ready":
			case "queued", "running":
				waiting++
			default:
				t.Errorf("%s is %s: %s", d.Name, d.Status, d.Error)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return waiting == 0
	})
	return docs
}

// eventually polls for what another process brings about.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatal("waited for two minutes")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSecondProcess shows what happens when a data folder is open already: the
// command line talks to the server that has it, a second server refuses.
func TestSecondProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	data := t.TempDir()
	srv := startServer(t, data)
	file := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(file, []byte("The key to the cellar hangs behind the kitchen door."), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, msg := command(t, "ingest", "--data", data, "--kb", "house", file)
	if code != exitOK || out != "1 of 1 files ready\n" || !strings.Contains(msg, "using the server on "+srv.base) {
		t.Errorf("ingest: %d\n%s%s", code, out, msg)
	}
	code, out, msg = command(t, "search", "--data", data, "--kb", "house", "--json", "cellar key")
	var r retrieved
	if err := json.Unmarshal([]byte(out), &r); code != exitOK || err != nil || len(r.Hits) != 1 || r.Hits[0].DocumentName != "note.txt" {
		t.Errorf("search: %d %v\n%s%s", code, err, out, msg)
	}
	code, _, msg = command(t, "serve", "--data", data, "--addr", "127.0.0.1:0")
	if code != exitFailed || !strings.Contains(msg, "is in use by another process") {
		t.Errorf("second server: %d\n%s", code, msg)
	}
}
