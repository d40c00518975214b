package ingest

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ragagent/store"
)

func TestCleanPath(t *testing.T) {
	for given, want := range map[string]string{
		"a.md":                           "a.md",
		"a/b/c.md":                       "a/b/c.md",
		"./a//b/./c.md/":                 "a/b/c.md",
		" a / b.md ":                     "a/b.md",
		"a\x00b\u202e.md":                "ab.md",
		"cafe\u0301.md":                  "caf\u00e9.md",
		"...":                            "...",
		"":                               "",
		"/etc/passwd":                    "",
		"a/../b":                         "",
		"..":                             "",
		".":                              "",
		"\xff":                           "",
		strings.Repeat("x", 1024):        strings.Repeat("x", 1024),
		strings.Repeat("x", 1025):        "",
		strings.Repeat("e\u0301", 512):   strings.Repeat("\u00e9", 512), // bytes of what is stored
		"a/" + strings.Repeat("./", 600): "a",
	} {
		got, err := CleanPath(given)
		if got != want || (want == "") != errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestCleanPathIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := CleanPath(rapid.String().Draw(t, "path"))
		if err != nil {
			return
		}
		if twice, err := CleanPath(once); twice != once || err != nil {
			t.Fatalf("%q becomes %q, %v", once, twice, err)
		}
	})
}

func TestPathsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"a.md":                "a.md",
		"docs/a.md":           "docs/a.md",
		`docs\a.md`:           "docs/a.md",
		`C:\docs\a.md`:        "a.md",
		"/home/ada/a.md":      "a.md",
		"../../etc/passwd":    "passwd",
		"docs/../secret/a.md": "a.md",
	} {
		source, err := cleanSource(Upload{Name: name})
		if source != (store.Source{Path: want}) || err != nil {
			t.Errorf("%q: %+v, %v, want %q", name, source, err, want)
		}
	}
	if _, err := cleanSource(Upload{Name: "a", Origin: "sync:\n"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an origin of two lines: %v", err)
	}
}
