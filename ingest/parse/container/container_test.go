package container_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/parse/container"
	"ragagent/ingest/parse/doc"
)

// packed opens a zip file of names and contents in turns.
func packed(t *testing.T, entries ...string) *container.Container {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err == nil {
			_, err = io.WriteString(w, entries[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := container.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNames(t *testing.T) {
	c := packed(t, "Word/Document.xml", "one", "word/document.xml", "two", "/abs.xml", "three", `back\slash.xml`, "four", "../up.xml", "five", "folder/", "")
	for name, want := range map[string]string{"word/document.xml": "one", "/WORD/DOCUMENT.XML": "one", "abs.xml": "three", "back/slash.xml": "four", "../up.xml": "five"} {
		if got, err := c.ReadAll(name, 10); string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	want := []string{"Word/Document.xml", "abs.xml", `back\slash.xml`, "../up.xml"}
	if diff := cmp.Diff(want, c.Names()); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Open("none"); !errors.Is(err, container.ErrMissing) || !errors.Is(err, doc.ErrDamaged) {
		t.Errorf("a part that is missing: %v", err)
	}
}

func TestBounds(t *testing.T) {
	c := packed(t, "small", "12345", "bomb", strings.Repeat(" ", 40<<20))
	if _, err := c.ReadAll("small", 4); !errors.Is(err, doc.ErrLimit) {
		t.Errorf("a part of 5 bytes, where 4 are allowed: %v", err)
	}
	r, err := c.Open("bomb")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); !errors.Is(err, doc.ErrLimit) || n >= 40<<20 {
		t.Errorf("%d bytes of blanks: %v", n, err)
	}
}

func TestNoContainer(t *testing.T) {
	for _, data := range []string{"", "PK\x03\x04", strings.Repeat("PK\x05\x06", 100)} {
		if _, err := container.Open(strings.NewReader(data), int64(len(data))); !errors.Is(err, doc.ErrDamaged) && !errors.Is(err, doc.ErrLimit) {
			t.Errorf("%.20q: %v", data, err)
		}
	}
}
