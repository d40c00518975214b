package backup_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/store"
	"ragagent/store/backup"
)

// memory is records and blobs, as a source and as a sink.
type memory struct {
	records string
	blobs   map[string]string
}

func newMemory(records string, contents ...string) *memory {
	m := &memory{records: records, blobs: map[string]string{}}
	for _, c := range contents {
		m.blobs[hashOf(c)] = c
	}
	return m
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (m *memory) Records(r io.Reader) error {
	raw, err := io.ReadAll(r)
	m.records = string(raw)
	return err
}

func (m *memory) Blob(_ context.Context, hash string, r io.Reader) error {
	raw, err := io.ReadAll(r)
	m.blobs[hash] = string(raw)
	return err
}

type openBlob struct{ *bytes.Reader }

func (openBlob) Close() error { return nil }

func (m *memory) source() backup.Source {
	return backup.Source{
		Records: strings.NewReader(m.records), RecordsBytes: int64(len(m.records)),
		Blobs: func(yield func(string, error) bool) {
			for _, hash := range slices.Sorted(maps.Keys(m.blobs)) {
				if !yield(hash, nil) {
					return
				}
			}
		},
		Open: func(_ context.Context, hash string) (store.Blob, error) {
			if m.blobs[hash] == "lost" {
				return nil, store.ErrNotFound
			}
			return openBlob{bytes.NewReader([]byte(m.blobs[hash]))}, nil
		},
		Program: "test",
		Now:     func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC) },
	}
}

func write(t interface{ Fatal(...any) }, m *memory) ([]byte, backup.Manifest) {
	var out bytes.Buffer
	manifest, err := backup.Write(context.Background(), &out, m.source())
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), manifest
}

func read(raw []byte) (*memory, backup.Manifest, error) {
	m := newMemory("")
	manifest, err := backup.Read(context.Background(), bytes.NewReader(raw), int64(len(raw)), m)
	return m, manifest, err
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.String().Draw(t, "records")
		contents := rapid.SliceOf(rapid.StringN(0, 2000, -1)).Draw(t, "blobs")
		m := newMemory(records, contents...)
		raw, written := write(t, m)
		got, manifest, err := read(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*m, *got, cmp.AllowUnexported(memory{})); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
		if diff := cmp.Diff(written, manifest); diff != "" {
			t.Fatalf("manifest (-written +read):\n%s", diff)
		}
	})
}

func TestDamagedBlobsAreLeftOutAndNamed(t *testing.T) {
	m := newMemory("records", "one", "two", "three")
	m.blobs[hashOf("two")] = "tow"
	m.blobs[hashOf("three")] = "lost"
	raw, manifest := write(t, m)
	want := []backup.Missing{
		{SHA256: hashOf("three"), Reason: "not found"},
		{SHA256: hashOf("two"), Reason: "its content has changed: it hashes to " + hashOf("tow")},
	}
	slices.SortFunc(want, func(a, b backup.Missing) int { return strings.Compare(a.SHA256, b.SHA256) })
	if diff := cmp.Diff(want, manifest.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	got, _, err := read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{hashOf("one"): "one"}, got.blobs); diff != "" {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
}

// TestEveryChangeIsFound flips each byte of an archive and cuts it off at each
// length. Only padding and the modes, owners and times of a tar header may
// differ, which nobody reads: what is read must be what was written.
func TestEveryChangeIsFound(t *testing.T) {
	m := newMemory("the records", "one", "two")
	raw, manifest := write(t, m)
	harmless := func(damaged []byte) bool {
		got, read, err := read(damaged)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrConflict) {
				t.Fatalf("not told as damage: %v", err)
			}
			return true
		}
		return cmp.Equal(*m, *got, cmp.AllowUnexported(memory{})) && cmp.Equal(manifest, read)
	}
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(raw)
			damaged[i] ^= bit
			if !harmless(damaged) {
				t.Fatalf("a flip of byte %d gave something else", i)
			}
		}
	}
	end := len(raw) - 1024 // the two empty blocks at the end of every tar file
	for n := range end - 512 {
		if _, _, err := read(raw[:n]); !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(raw), err)
		}
	}
}

// TestNothingFollowsTheEnd: what was appended is told, whatever it is.
func TestNothingFollowsTheEnd(t *testing.T) {
	raw, _ := write(t, newMemory("the records", "one"))
	for name, more := range map[string][]byte{
		"a byte": {'x'}, "zeros": make([]byte, 512), "junk": bytes.Repeat([]byte("junk"), 1000), "another backup": raw,
	} {
		if _, _, err := read(slices.Concat(raw, more)); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "it goes on after its end") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type file struct {
	header tar.Header
	body   string
}

func archive(t *testing.T, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		if f.header.Typeflag == 0 {
			f.header.Typeflag, f.header.Size = tar.TypeReg, int64(len(f.body))
		}
		if err := w.WriteHeader(&f.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostileArchives: nothing but hashes that were checked ever reaches a sink.
func TestHostileArchives(t *testing.T) {
	records := file{tar.Header{Name: "ragagent.db"}, "records"}
	named := func(name, body string) file { return file{tar.Header{Name: name}, body} }
	hash := hashOf("x")
	for name, c := range map[string]struct {
		files []file
		want  string
	}{
		"nothing":       {nil, "ends too early"},
		"other archive": {[]file{named("README", "hello")}, `begins with "README"`},
		"path upwards":  {[]file{records, named("blobs/../../etc/passwd", "x")}, "not the name of a blob"},
		"absolute path": {[]file{records, named("/etc/passwd", "x")}, "not the name of a blob"},
		"wrong hash":    {[]file{records, named("blobs/"+hash[:2]+"/"+hash[2:], "y")}, "hashes to"},
		"upper case":    {[]file{records, named("blobs/AB/"+strings.Repeat("AB", 31), "y")}, "not the name of a blob"},
		"other shard":   {[]file{records, named("blobs/"+hash[:4]+"/"+hash[4:], "x")}, "not the name of a blob"},
		"twice":         {[]file{records, named("blobs/"+hash[:2]+"/"+hash[2:], "x"), named("blobs/"+hash[:2]+"/"+hash[2:], "x")}, "out of order"},
		"link":          {[]file{records, {tar.Header{Name: "blobs/" + hash[:2] + "/" + hash[2:], Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}}, "not a plain file"},
		"records twice": {[]file{records, records}, "not the name of a blob"},
		"no manifest":   {[]file{records}, "ends too early"},
		"manifest only": {[]file{records, named("manifest.json", "{}")}, "ends too early"},
		"foreign": {[]file{records, named("manifest.json", "{}"), named("manifest.sha256", fmt.Sprintf("%s  manifest.json\n", hashOf("{}")))},
			"its manifest is none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(archive(t, c.files...))
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestSparseFilesDoNotGrow: an entry cannot claim more than the archive has.
func TestSparseFilesDoNotGrow(t *testing.T) {
	raw := archive(t, file{tar.Header{Name: "ragagent.db", Typeflag: tar.TypeReg, Size: 4}, "four"})
	h := raw[:512]
	copy(h[124:136], "77777777777\x00") // 8 GiB
	sum := 0
	copy(h[148:156], "        ")
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	if _, _, err := read(raw); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "claims 8589934591 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestLaterVersionsAreRefused(t *testing.T) {
	manifest := `{"format":"ragagent backup","version":2}`
	raw := archive(t,
		file{tar.Header{Name: "ragagent.db"}, "records"},
		file{tar.Header{Name: "manifest.json"}, manifest},
		file{tar.Header{Name: "manifest.sha256"}, hashOf(manifest) + "  manifest.json\n"})
	if _, _, err := read(raw); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestCancelledContextEndsBoth(t *testing.T) {
	m := newMemory("records", "one")
	raw, _ := write(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backup.Write(ctx, io.Discard, m.source()); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if _, err := backup.Read(ctx, bytes.NewReader(raw), int64(len(raw)), backup.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
}
