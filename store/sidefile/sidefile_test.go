package sidefile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
)

func folder(t testing.TB, cfg Config) *Folder {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "indexes")
	}
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// whole writes a body in one piece.
func whole(body []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}
}

func put(t testing.TB, f *Folder, key, stamp string, body []byte) string {
	t.Helper()
	if err := f.Write(t.Context(), "words", key, stamp, whole(body)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(f.dir, Name{"words", key}.File())
}

func random(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	body := make([]byte, n)
	_, _ = r.Read(body) // never fails
	return body
}

// TestRoundTrip: what is read is what was written, however it was written.
func TestRoundTrip(t *testing.T) {
	f := folder(t, Config{})
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(
			rapid.IntRange(0, 100),
			rapid.SampledFrom([]int{block - 1, block, block + 1, 2 * block, 3*block + 17}),
		).Draw(t, "size")
		cuts := rapid.SliceOfN(rapid.IntRange(0, size), 0, 5).Draw(t, "cuts")
		slices.Sort(cuts)
		stamp := rapid.String().Filter(func(s string) bool { return len(s) <= maxStamp }).Draw(t, "stamp")
		body := random(size)
		err := f.Write(context.Background(), "words", "kb_1", stamp, func(w io.Writer) error {
			from := 0
			for _, to := range append(cuts, size) {
				if n, err := w.Write(body[from:to]); err != nil || n != to-from {
					t.Fatalf("wrote %d of %d: %v", n, to-from, err)
				}
				from = to
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Read(context.Background(), "words", "kb_1", stamp)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%d bytes read, %d written: %v", len(got), len(body), err)
		}
		if _, err := f.Read(context.Background(), "words", "kb_1", stamp+"x"); !errors.Is(err, ErrStale) {
			t.Fatalf("another stamp: %v", err)
		}
	})
}

// TestEveryFlipAndCut: no bit can turn over, and no byte can be lost or come
// behind the end, without being found.
func TestEveryFlipAndCut(t *testing.T) {
	f := folder(t, Config{})
	body := random(200)
	path := put(t, f, "kb_1", "one", body)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, at int, raw []byte) {
		t.Helper()
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read(t.Context(), "words", "kb_1", "one"); !errors.Is(err, store.ErrDamaged) || got != nil {
			t.Errorf("%s at %d: %d bytes, %v", what, at, len(got), err)
		}
	}
	for at := range sound {
		for bit := range 8 {
			raw := slices.Clone(sound)
			raw[at] ^= 1 << bit
			try("flip", at, raw)
		}
		try("cut", at, sound[:at])
		try("cut in front", at, sound[at+1:])
		try("append", at, append(slices.Clone(sound), sound[:at+1]...))
		if at+1 < len(sound) && sound[at] != sound[at+1] {
			raw := slices.Clone(sound)
			raw[at], raw[at+1] = raw[at+1], raw[at]
			try("swap", at, raw)
		}
	}
	try("nothing", 0, nil)
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(t.Context(), "words", "kb_1", "one"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("the sound file: %v", err)
	}
}

// TestLargeDamages: the same for a file of several blocks, at random places,
// and for blocks that change places.
func TestLargeDamages(t *testing.T) {
	f := folder(t, Config{})
	path := put(t, f, "kb_1", "one", random(3*block+1000))
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := slices.Clone(sound)
		switch rapid.IntRange(0, 3).Draw(t, "damage") {
		case 0:
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] ^= rapid.ByteRange(1, 255).Draw(t, "by")
		case 1:
			raw = raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "size")]
		case 2: // blocks change places
			l, err := layoutOf(bytes.NewReader(raw), int64(len(raw)), 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			copy(raw[l.start:], sound[l.start+block:l.start+2*block])
			copy(raw[l.start+block:], sound[l.start:l.start+block])
		case 3: // a hole
			from := rapid.IntRange(0, len(raw)-4096).Draw(t, "from")
			clear(raw[from : from+4096])
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(context.Background(), "words", "kb_1", "one"); !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("not found: %v", err)
		}
	})
}

// TestOtherThings: what stands in the place of a side file is not taken for it.
func TestOtherThings(t *testing.T) {
	read := func(f *Folder) error {
		_, err := f.Read(t.Context(), "words", "kb_1", "one")
		return err
	}
	for _, c := range []struct {
		name string
		do   func(path, other string) error
		want error
	}{
		{"another knowledge base's", func(path, other string) error { return os.Rename(other, path) }, store.ErrDamaged},
		{"removed", func(path, _ string) error { return os.Remove(path) }, store.ErrNotFound},
		{"a folder", func(path, _ string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, store.ErrDamaged},
		{"a link", func(path, _ string) error {
			return errors.Join(os.Rename(path, path+".away"), os.Symlink(path+".away", path))
		}, store.ErrDamaged},
		{"a link to nothing", func(path, _ string) error { return errors.Join(os.Remove(path), os.Symlink("nothing", path)) }, store.ErrDamaged},
		{"a pipe", func(path, _ string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, store.ErrDamaged},
		{"the folder is a file", func(path, _ string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}, store.ErrDamaged},
		{"the folder is gone", func(path, _ string) error { return os.RemoveAll(filepath.Dir(path)) }, store.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := folder(t, Config{})
			path, other := put(t, f, "kb_1", "one", random(10)), put(t, f, "kb_2", "one", random(11))
			if err := read(f); err != nil {
				t.Fatal(err)
			}
			if err := c.do(path, other); err != nil {
				t.Fatal(err)
			}
			if err := read(f); !errors.Is(err, c.want) {
				t.Errorf("read: %v, want %v", err, c.want)
			}
			if _, err := New(Config{Dir: f.dir}); err != nil {
				t.Errorf("open: %v", err)
			}
			err := f.Write(t.Context(), "words", "kb_1", "one", whole(random(12)))
			if c.name == "the folder is a file" {
				if err == nil {
					t.Error("written into a file")
				}
				return
			}
			if err != nil || read(f) != nil {
				t.Errorf("written anew: %v, %v", err, read(f))
			}
		})
	}
}

// TestFailedWrite: after an error the older file is there, and nothing else.
func TestFailedWrite(t *testing.T) {
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx      context.Context
		keepFree int64
		write    func(io.Writer) error
		want     error
	}{
		"the source fails": {t.Context(), 0, func(w io.Writer) error {
			_, err := w.Write(random(2 * block))
			return errors.Join(err, broken)
		}, broken},
		"the disk is full": {t.Context(), 0, func(io.Writer) error { return syscall.ENOSPC }, store.ErrFull},
		"too large":        {t.Context(), 0, whole(random(3*block + 1)), store.ErrTooLarge},
		"too little room":  {t.Context(), Free(t.TempDir()), whole(random(1)), store.ErrFull},
		"cancelled":        {ended, 0, whole(random(block)), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t, Config{MaxBytes: 3 * block})
			body := random(3 * block)
			put(t, f, "kb_1", "one", body)
			f.keepFree = max(f.keepFree, c.keepFree)
			if err := f.Write(c.ctx, "words", "kb_1", "one", c.write); !errors.Is(err, c.want) {
				t.Errorf("write: %v", err)
			}
			if got, err := f.Read(t.Context(), "words", "kb_1", "one"); err != nil || !bytes.Equal(got, body) {
				t.Errorf("the older one: %v", err)
			}
			entries, err := os.ReadDir(f.dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}

func TestListAndClear(t *testing.T) {
	f := folder(t, Config{})
	if names, strays, err := f.List(); err != nil || names != nil || strays != nil {
		t.Errorf("no folder: %v %v %v", names, strays, err)
	}
	put(t, f, "kb_2", "one", nil)
	put(t, f, "kb_1", "one", nil)
	for _, name := range []string{"note.txt", "words-.side", "words-a.b.side", "words-kb_9.side.123.tmp"} {
		if err := os.WriteFile(filepath.Join(f.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f = folder(t, Config{Dir: f.dir}) // removes the unfinished one
	if _, err := os.Stat(filepath.Join(f.dir, "words-kb_9.side.123.tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished one: %v", err)
	}
	list := func(wantNames []Name, wantStrays ...string) {
		t.Helper()
		names, strays, err := f.List()
		if diff := cmp.Diff(wantNames, names) + cmp.Diff(wantStrays, strays); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	strays := []string{"note.txt", "words-.side", "words-a.b.side"}
	list([]Name{{"words", "kb_1"}, {"words", "kb_2"}}, strays...)
	if err := f.Clear(func(n Name) bool { return n.Key == "kb_2" }); err != nil {
		t.Error(err)
	}
	list([]Name{{"words", "kb_2"}}, strays...)
	if err := errors.Join(f.Remove("words", "kb_2"), f.Remove("words", "kb_2")); err != nil {
		t.Error(err)
	}
	list(nil, strays...)
}

// TestNames: a name never leads out of the folder.
func TestNames(t *testing.T) {
	f := folder(t, Config{})
	for _, n := range []Name{{"", "a"}, {"a", ""}, {"a", "../b"}, {"a", "b/c"}, {"A", "b"}, {"a", "b.c"}, {"a-b", "c"}, {"a", string(make([]byte, 129))}} {
		if err := f.Write(t.Context(), n.Kind, n.Key, "", whole(nil)); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("write %q: %v", n, err)
		}
		if _, err := f.Read(t.Context(), n.Kind, n.Key, ""); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("read %q: %v", n, err)
		}
		if err := f.Remove(n.Kind, n.Key); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("remove %q: %v", n, err)
		}
	}
	if err := f.Write(t.Context(), "words", "kb", string(make([]byte, maxStamp+1)), whole(nil)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a long stamp: %v", err)
	}
}

// TestModes: nobody else reads what documents consist of.
func TestModes(t *testing.T) {
	f := folder(t, Config{})
	path := put(t, f, "kb_1", "", nil)
	for p, want := range map[string]os.FileMode{f.dir: 0o700, path: 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// FuzzRead: whatever a file holds, reading it ends, takes no more memory than
// it is long, and gives a body only if the checksums say so.
func FuzzRead(f *testing.F) {
	side := folder(f, Config{})
	path := put(f, side, "kb_1", "one", random(100))
	sound, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound)
	f.Add(sound[:50])
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := layoutOf(bytes.NewReader(raw), int64(len(raw)), DefaultMaxBytes)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if l.size > int64(len(raw)) {
			t.Fatalf("a body of %d bytes in a file of %d", l.size, len(raw))
		}
		_, _ = l.body(t.Context(), bytes.NewReader(raw))
	})
}

// BenchmarkRead reads a file of 64 MB that the machine has in memory.
func BenchmarkRead(b *testing.B) {
	f := folder(b, Config{})
	put(b, f, "kb_1", "one", random(64<<20))
	b.SetBytes(64 << 20)
	for b.Loop() {
		if _, err := f.Read(b.Context(), "words", "kb_1", "one"); err != nil {
			b.Fatal(err)
		}
	}
}
