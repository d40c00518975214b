package ollamatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

// Binary names the variable that holds the path of a built server; see
// .ci/ollama-server.
const Binary = "RAGAGENT_OLLAMA_BIN"

// startTimeout bounds how long a server may take to answer for the first time.
const startTimeout = time.Minute

// Server is a running Ollama server of its own, on a free port of the loopback
// interface and with an empty folder of models.
type Server struct {
	URL string

	command *exec.Cmd
	client  *api.Client
	stopped func()
	log     lockedBuffer
}

// Start runs a server until the test ends. The test is skipped where there is
// no binary.
func Start(t testing.TB) *Server {
	t.Helper()
	binary := os.Getenv(Binary)
	if binary == "" {
		t.Skipf("%s is not set: make test-ollama builds a server and sets it", Binary)
	}
	home, address := t.TempDir(), freeAddress(t)
	s := &Server{URL: "http://" + address}
	s.command = exec.Command(binary, "serve") //nolint:noctx // it is ended by Stop, in its own way
	s.command.Env = append(os.Environ(), "HOME="+home, "OLLAMA_MODELS="+home, "OLLAMA_HOST="+address,
		"OLLAMA_NO_CLOUD=1", "OLLAMA_LLM_LIBRARY=cpu", "OLLAMA_CONTEXT_LENGTH=2048")
	s.command.Stdout, s.command.Stderr = &s.log, &s.log
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its runners die with it
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.command.Wait() // it is killed: its status says nothing
	}()
	s.stopped = sync.OnceFunc(func() { <-ended })
	transport := &http.Transport{}
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.client = api.NewClient(base, &http.Client{Transport: transport})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log.String())
		}
	})
	s.awaitReady(t, ended)
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener that is closed at once
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func (s *Server) awaitReady(t testing.TB, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.client.Heartbeat(ctx) != nil {
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("the server has ended:\n%s", s.log.String())
		case <-ctx.Done():
			t.Fatalf("the server does not answer:\n%s", s.log.String())
		}
	}
}

// Kill ends the server and its runners at once, as a crash would, and waits
// until they are gone. It may be called again.
func (s *Server) Kill() {
	_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) // gone already is fine
	s.stopped()
}

// Create gives the server a model under a name.
func (s *Server) Create(t testing.TB, name string, p Parrot) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(p.Weights))
	if err := s.client.CreateBlob(t.Context(), digest, bytes.NewReader(p.Weights)); err != nil {
		t.Fatal(err)
	}
	err := s.client.Create(t.Context(), &api.CreateRequest{
		Model: name, Files: map[string]string{"model.gguf": digest}, Template: p.Template,
		Parameters: map[string]any{"stop": []string{endToken}, "num_thread": 1},
	}, func(api.ProgressResponse) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// lockedBuffer collects a log that is still being written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
