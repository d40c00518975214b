package parse

import (
	"bytes"
	"os"
	"strings"
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

// TestParsersTellHowFarTheyAre: pages of a PDF, bytes of a long text; always
// forwards, and to the end.
func TestParsersTellHowFarTheyAre(t *testing.T) {
	p := newParser(t, Config{})
	var pages []string
	for i := range 7 {
		pages = append(pages, show(strings.Repeat(string(rune('a'+i)), 5)+" begins a page.", "Its text has "+strings.Repeat("many ", i)+"words."))
	}
	long := strings.Repeat("A sentence of some length stands here.\n\n", 100_000)
	for name, data := range map[string][]byte{"a.pdf": newPDF().pages(pages...).bytes(""), "a.txt": []byte(long)} {
		told, last, end := 0, 0, 0
		text, err := p.ParseTold(t.Context(), name, inMemory(data), func(done, total int) {
			if done < last || done > total {
				t.Errorf("%s: %d of %d after %d", name, done, total, last)
			}
			told, last, end = told+1, done, total
		})
		if err != nil || told < 7 || last != end && name == "a.pdf" || last < len(text.Body)*9/10 && name == "a.txt" {
			t.Errorf("%s: told %d times, at last %d of %d, %v", name, told, last, end, err)
		}
	}
}
