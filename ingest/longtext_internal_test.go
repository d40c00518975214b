package ingest

import (
	"crypto/sha256"
	"io"
	"strings"
	"testing"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// TestLongText: a long text reads the same from its file, as often as wanted,
// whatever has been taken out of memory meanwhile.
func TestLongText(t *testing.T) {
	s := &Service{cfg: Config{TempDir: t.TempDir()}}
	line := strings.Repeat("some words of a long text ", 40) + "\n"
	body := strings.Repeat(line, longText/len(line)+1)
	want := sha256.Sum256([]byte(body))
	text := parse.Text{Body: body}
	m, err := s.outsource(&text)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if canMap && m.data == nil {
		t.Fatal("it is in memory")
	}
	for range 2 {
		h := sha256.New()
		if n, err := io.Copy(h, m.reader(text.Body)); n != int64(len(body)) || err != nil || [32]byte(h.Sum(nil)) != want {
			t.Errorf("%d bytes, %v, want %d with the hash %x", n, err, len(body), want)
		}
	}
	m.passed(len(body))
	if text.Body != body {
		t.Error("the text is another one")
	}
}

// TestShortText stays where it is.
func TestShortText(t *testing.T) {
	s := &Service{cfg: Config{TempDir: "/nowhere"}}
	text := parse.Text{Body: "short"}
	m, err := s.outsource(&text)
	if err != nil || m.data != nil {
		t.Fatalf("%v %v", m, err)
	}
	m.passed(5)
	m.rewind()
	if got, err := io.ReadAll(m.reader(text.Body)); string(got) != "short" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	m.close()
}

// TestNoPlaceForLongText: the error is not one that waiting would help.
func TestNoPlaceForLongText(t *testing.T) {
	if !canMap {
		t.Skip("long texts stay in memory here")
	}
	s := &Service{cfg: Config{TempDir: "/nowhere"}}
	if _, err := s.outsource(&parse.Text{Body: strings.Repeat("x", longText)}); err == nil || store.IsFull(err) {
		t.Errorf("got %v", err)
	}
}
