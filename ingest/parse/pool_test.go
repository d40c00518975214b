package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// idle returns the process ids of children that wait for files.
func (p *Parser) idle() []int {
	p.sandbox.pool.mu.Lock()
	defer p.sandbox.pool.mu.Unlock()
	var out []int
	for _, w := range p.sandbox.pool.idle {
		out = append(out, w.cmd.Process.Pid)
	}
	return out
}

func needPool(t *testing.T) {
	t.Helper()
	if !pooling {
		t.Skip("children read one file each on this system")
	}
}

func TestChildReadsSeveralFiles(t *testing.T) {
	needPool(t)
	p := newParser(t, Config{Children: 1})
	long := newPDF().pages(show("A long text that is longer than the next."), show("And more.")).bytes("")
	short := wordFile(t, paragraphs("short"))
	var first []int
	for i, data := range [][]byte{long, short, []byte("PK\x03\x04 broken"), long, short} {
		text, err := p.Parse(t.Context(), "x", inMemory(data))
		if i == 2 {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("file %d: %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "short", false: "A long text that is longer than the next.\n\nAnd more."}[i%3 == 1]; text.Body != want {
			t.Errorf("file %d: %q", i, text.Body)
		}
		switch pids := p.idle(); {
		case len(pids) != 1 || first != nil && pids[0] != first[0]:
			t.Errorf("file %d: children %v, before %v", i, pids, first)
		default:
			first = pids
		}
	}
	if err := p.Close(); err != nil || len(p.idle()) > 0 {
		t.Errorf("left %v, %v", p.idle(), err)
	}
	if _, err := p.Parse(t.Context(), "x", inMemory(short)); err != nil { // it is only slower now
		t.Error(err)
	}
	if len(p.idle()) > 0 {
		t.Error("a child is kept by a closed parser")
	}
}

func TestDeadChildIsReplaced(t *testing.T) {
	needPool(t)
	p := newParser(t, Config{Children: 1})
	data := wordFile(t, paragraphs("text"))
	for range 3 {
		if text, err := p.Parse(t.Context(), "x", inMemory(data)); err != nil || text.Body != "text" {
			t.Fatalf("%q, %v", text.Body, err)
		}
		p.sandbox.pool.mu.Lock()
		w := p.sandbox.pool.idle[0]
		p.sandbox.pool.mu.Unlock()
		w.kill()
		_, _ = w.answers.Read(make([]byte, 1)) // until it is gone
	}
}

// TestChildEndsWithItsParent: when the parent is killed, its end of the leash is
// closed, and nothing else need be.
func TestChildEndsWithItsParent(t *testing.T) {
	needPool(t)
	p := newParser(t, Config{Children: 1})
	if _, err := p.Parse(t.Context(), "x", inMemory(wordFile(t, paragraphs("text")))); err != nil {
		t.Fatal(err)
	}
	w := p.sandbox.pool.pop()
	defer w.end()
	if err := w.leash.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.answers.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.answers.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the child goes on: %v", err)
	}
}

func TestChildIsRetired(t *testing.T) {
	needPool(t)
	p := newParser(t, Config{Children: 1, Memory: 192 << 20})
	small := wordFile(t, paragraphs("text"))
	// A table is held as a whole: it takes more than a quarter of the memory.
	large := wordFile(t, tableOf(60_000))
	if _, err := p.Parse(t.Context(), "x", inMemory(small)); err != nil || len(p.idle()) != 1 {
		t.Fatal(p.idle(), err)
	}
	pid := p.idle()[0]
	if _, err := p.Parse(t.Context(), "x", inMemory(large)); err != nil {
		t.Fatal(err)
	}
	if pids := p.idle(); len(pids) == 1 && pids[0] == pid {
		t.Error("a child that has grown is kept")
	}
	for range maxFiles + 1 {
		if _, err := p.Parse(t.Context(), "x", inMemory(small)); err != nil {
			t.Fatal(err)
		}
	}
	p.sandbox.pool.mu.Lock()
	defer p.sandbox.pool.mu.Unlock()
	if files := p.sandbox.pool.idle[0].files; files > maxFiles {
		t.Errorf("a child has read %d files", files)
	}
}

// TestManyFilesAtOnce reads what kills children, and what does not, side by
// side: the one must not cost the other.
func TestManyFilesAtOnce(t *testing.T) {
	p := newParser(t, Config{Children: 3, Memory: 128 << 20})
	good := wordFile(t, paragraphs("good"))
	bad := newPDF().withXRefStream("/Size 900000000 /W [1 1 1]", "xxxx")
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			if i%4 == 0 {
				if _, err := p.Parse(t.Context(), "x", inMemory(bad)); !errors.Is(err, ErrLimit) {
					t.Errorf("bad file: %v", err)
				}
				return
			}
			if text, err := p.Parse(t.Context(), "x", inMemory(good)); err != nil || text.Body != "good" {
				t.Errorf("good file: %q, %v", text.Body, err)
			}
		})
	}
	wg.Wait()
}

// tableOf is a table of Word.
func tableOf(rows int) string {
	var out strings.Builder
	out.WriteString("<w:tbl>")
	for i := range rows {
		fmt.Fprintf(&out, `<w:tr><w:tc>%s</w:tc><w:tc>%s</w:tc></w:tr>`, paragraphs(fmt.Sprint(i*i)), paragraphs(fmt.Sprint(i)))
	}
	return out.String() + "</w:tbl>"
}
