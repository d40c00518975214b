package parse

import (
	"bytes"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == probeArgument {
		probe()
		return
	}
	ChildMain()
	goleak.VerifyTestMain(m)
}

// memoryFile is a store.Blob in memory.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func inMemory(data []byte) memoryFile { return memoryFile{bytes.NewReader(data)} }

func newParser(t testing.TB, cfg Config) *Parser {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// parseBytes reads data with default limits.
func parseBytes(t testing.TB, name string, data []byte) (Text, error) {
	t.Helper()
	return newParser(t, Config{}).Parse(t.Context(), name, inMemory(data))
}

// shared returns the folder of test collections, or skips.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("RAGAGENT_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the folder of test collections is not here: %v", err)
	}
	return dir
}
