package web_test

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"ragagent/web"
)

func TestFSHoldsThePlaceholder(t *testing.T) {
	text, err := fs.ReadFile(web.FS(), "placeholder.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "built into this folder by make") {
		t.Errorf("placeholder.txt = %q", text)
	}
}

// The page may load nothing from elsewhere, and every file it names has to be
// in the binary.
func TestBuiltPageIsSelfContained(t *testing.T) {
	page, err := fs.ReadFile(web.FS(), "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the page is not built: run `make page`")
	}
	if err != nil {
		t.Fatal(err)
	}
	refs := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
	if len(refs) < 2 {
		t.Fatalf("index.html names %d files, want a script and a style sheet at least:\n%s", len(refs), page)
	}
	for _, ref := range refs {
		name, local := strings.CutPrefix(ref[1], "./")
		if !local {
			t.Errorf("index.html refers to %q, want a path that starts with ./", ref[1])
			continue
		}
		if _, err := fs.Stat(web.FS(), name); err != nil {
			t.Errorf("index.html refers to %q: %v", ref[1], err)
		}
	}
	if !strings.Contains(string(page), "Content-Security-Policy") {
		t.Error("index.html carries no Content-Security-Policy")
	}
}
