package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest/archive"
)

func deflated(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = io.Copy(w, r)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestNestedArchivesAreWalkedInTheirPlace(t *testing.T) {
	inner := zipOf(t, member{"deep.md", "# deep"}, member{"../out", "x"})
	docx := string(zipOf(t, member{"[Content_Types].xml", ""}, member{"word/document.xml", strings.Repeat("w", 200)}))
	data := zipOf(t, member{"a.txt", "1"},
		member{"q/inner.bin", string(gzipOf(t, tarOf(t, member{"x/inner.zip", string(inner)}, member{"x/b.txt", "2"})))},
		member{"letter.docx", docx}, member{"z.txt", "3"})
	got, err := told(t, data, archive.Limits{})
	want := []string{"a.txt: 1", "q/inner.bin/x/inner.zip/deep.md: # deep", "q/inner.bin/x/inner.zip/../out! path",
		"q/inner.bin/x/b.txt: 2", fmt.Sprintf("letter.docx: %d bytes", len(docx)), "z.txt: 3"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, _ = told(t, data, archive.Limits{Nesting: 1})
	want = append([]string{want[0], "q/inner.bin/x/inner.zip! nesting"}, want[3:]...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, _ = told(t, data, archive.Limits{Nesting: -1})
	want = append([]string{want[0], "q/inner.bin! nesting"}, want[3:]...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsLeftInTheTemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	inner := zipOf(t, member{"a", "1"})
	data := zipOf(t, member{"in.zip", string(inner)}, member{"damaged.zip", string(inner[:len(inner)-30])})
	if _, err := told(t, data, archive.Limits{TempDir: dir}); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestADamagedArchiveEndsAfterWhatCouldBeRead(t *testing.T) {
	text := strings.Repeat("The quick brown fox. ", 4)
	zipped := zipOf(t, member{"a.txt", text}, member{"b.txt", text}, member{"c.txt", "end"})
	stored := rawZip(stored("a.txt", text), stored("b.txt", text), stored("c.txt", "end"))
	tarred := tarOf(t, member{"a.txt", text}, member{"b.txt", text}, member{"c.txt", "end"})
	for name, data := range map[string][]byte{
		"zip without its directory":     zipped[:bytes.Index(zipped, []byte("PK\x01\x02"))],
		"stored, without its directory": stored[:len(stored)-30],
		"tar in the third header":       tarred[:2*1024+300],
	} {
		got, err := told(t, data, archive.Limits{})
		want := []string{"a.txt: " + text, "b.txt: " + text}
		if !errors.Is(err, archive.ErrDamaged) || len(got) < 2 || !slices.Equal(got[:2], want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// Of a compressed tar that is cut off, the entry at the cut fails as well.
	random := make([]byte, 50_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	cut := gzipOf(t, tarOf(t, member{"a.txt", text}, member{"b.bin", string(random)}))[:30_000]
	got, err := told(t, cut, archive.Limits{})
	if !errors.Is(err, archive.ErrDamaged) || len(got) != 2 || got[0] != "a.txt: "+text || !strings.HasSuffix(got[1], "! damaged") {
		t.Errorf("tar.gz: %d lines, %v", len(got), err)
	}
}

func TestADamagedEntryIsLostAlone(t *testing.T) {
	wrongSum := stored("sum.txt", "text")
	wrongSum.crc++
	small, large := stored("small.txt", "text"), stored("large.txt", "text")
	small.size--
	large.size++
	noDeflate := rawEntry{name: "garbage.txt", method: 8, data: []byte("\xff\xff\xff\xff"), size: 9}
	got, err := told(t, rawZip(wrongSum, small, large, noDeflate, stored("good.txt", "good")), archive.Limits{})
	want := []string{"sum.txt: text! damaged", "small.txt: text! damaged", "large.txt: text! damaged",
		"garbage.txt: ! damaged", "good.txt: good"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	broken := zipOf(t, member{"a.txt", "in"})
	got, err = told(t, zipOf(t, member{"in.zip", string(broken[:len(broken)-1])}, member{"b.txt", "out"}), archive.Limits{})
	want = []string{"in.zip/a.txt: in", "in.zip! damaged", "b.txt: out"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A better zip bomb: many entries of the directory point at the same data.
func TestOverlappingEntriesAreABomb(t *testing.T) {
	kernel := deflated(t, io.LimitReader(zeros{}, 1<<20))
	first := rawEntry{name: "0", method: 8, data: kernel, size: 1 << 20, crc: crc32.ChecksumIEEE(make([]byte, 1<<20))}
	entries := []rawEntry{first}
	for i := range 1000 {
		again := first
		again.name, again.at = fmt.Sprint(i+1), 1
		entries = append(entries, again)
	}
	got, err := told(t, rawZip(entries...), archive.Limits{})
	if err != nil || len(got) != 1001 {
		t.Fatal(len(got), err)
	}
	for i, line := range got {
		if want := fmt.Sprint(i, "! bomb"); line != want {
			t.Fatalf("%q, want %q", line, want)
		}
	}
	// One that begins inside another one's data.
	inside := rawZip(stored("inner", "payload"))
	outer := stored("outer", string(inside[:41])) // the local header and part of its data
	data := rawZip(outer, rawEntry{name: "inner", data: []byte("payload"), size: 7, crc: crc32.ChecksumIEEE([]byte("payload")), at: 30 + 5 + 1})
	got, err = told(t, data, archive.Limits{})
	if want := []string{"outer! bomb", "inner: payload"}; err != nil || got[0] != want[0] {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBombsAreBounded(t *testing.T) {
	const size = 16 << 20
	packed := deflated(t, io.LimitReader(zeros{}, size))
	bomb := rawZip(rawEntry{name: "zeros", method: 8, data: packed, size: size}, stored("a.txt", "text"))
	tarred := io.MultiReader(bytes.NewReader(tarWith(t, []tar.Header{{Name: "zeros", Size: 0}}, nil)[:512]), io.LimitReader(zeros{}, size))
	var tarBomb bytes.Buffer
	if _, err := tarBomb.ReadFrom(tarred); err != nil {
		t.Fatal(err)
	}
	copy(tarBomb.Bytes()[124:], fmt.Sprintf("%011o", size))
	fixChecksum(tarBomb.Bytes())
	gz := gzipOf(t, tarBomb.Bytes())

	got, err := told(t, bomb, archive.Limits{})
	if err != nil || len(got) != 2 || !strings.HasSuffix(got[0], "! bomb") || got[1] != "a.txt: text" {
		t.Errorf("zip: %v", err)
	}
	got, err = told(t, bomb, archive.Limits{EntryBytes: 1 << 20})
	if err != nil || !slices.Equal(got, []string{"zeros! large", "a.txt: text"}) {
		t.Errorf("zip with an entry too large: %q, %v", got, err)
	}
	if _, err = told(t, bomb, archive.Limits{TotalBytes: 1 << 20}); !errors.Is(err, archive.ErrLimit) {
		t.Errorf("zip past the total: %v", err)
	}
	for _, unread := range []bool{false, true} {
		if err := walkOnly(gz, archive.Limits{}, unread); !errors.Is(err, archive.ErrBomb) {
			t.Errorf("tar.gz, unread %v: %v", unread, err)
		}
		if err := walkOnly(gz, archive.Limits{TotalBytes: 1 << 20}, unread); !errors.Is(err, archive.ErrLimit) {
			t.Errorf("tar.gz past the total, unread %v: %v", unread, err)
		}
	}
	got, err = told(t, zipOf(t, member{"in.tgz", string(gz)}, member{"b.txt", "out"}), archive.Limits{})
	if want := "in.tgz! bomb"; err != nil || len(got) != 3 || got[1] != want || got[2] != "b.txt: out" {
		t.Errorf("nested: %d lines, %v", len(got), err)
	}
}

// A file with holes unpacks to zeros that are nowhere in the archive.
func TestSparseFilesAreRefused(t *testing.T) {
	old := tarOf(t, member{"old.txt", ""})[:512]
	old[156] = 'S'
	copy(old[257:], "ustar  \x00")
	copy(old[386:], fmt.Sprintf("%011o\x00%011o\x00", 1<<30, 0)) // nothing at the end of
	copy(old[483:], fmt.Sprintf("%011o\x00", 1<<30))             // a gigabyte
	fixChecksum(old)
	records := tarWith(t, []tar.Header{{Name: "new.txt", PAXRecords: map[string]string{"XXX.sparse.size": "1073741824", "XXX.sparse.numblocks": "0"}}}, nil)
	records = bytes.ReplaceAll(records, []byte("XXX.sparse"), []byte("GNU.sparse"))
	data := slices.Concat(old, records[:3*512], tarOf(t, member{"a.txt", "text"}))
	got, err := told(t, data, archive.Limits{})
	if want := []string{"old.txt! special", "new.txt! special", "a.txt: text"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func walkOnly(data []byte, limits archive.Limits, unread bool) error {
	for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), limits) {
		if err != nil {
			return err
		}
		if !unread && e.Body != nil {
			_, _ = io.Copy(io.Discard, e.Body) // the walk ends with its error
		}
	}
	return nil
}

// An archive that contains itself, and others, without end: here by nesting,
// each level holding ten of the next.
func TestNestingWithoutEndIsBounded(t *testing.T) {
	data := zipOf(t, member{"seed", "x"})
	for range 8 {
		var members []member
		for i := range 10 {
			members = append(members, member{fmt.Sprint(i), string(data)})
		}
		data = gzipOf(t, tarOf(t, members...))
	}
	got, err := told(t, data, archive.Limits{})
	if err != nil || len(got) != 1000 {
		t.Errorf("%d lines, %v", len(got), err)
	}
	for _, line := range got {
		if !strings.HasSuffix(line, "! nesting") {
			t.Fatal(line)
		}
	}
}

// A million entries end the walk at the limit, in memory that does not know
// how many there are.
func TestAMillionEntries(t *testing.T) {
	const n, header, entry = 1_000_000, 30 + 7, 46 + 7
	one := rawZip(stored("1000000", ""))
	local := bytes.Repeat(one[:header], n)
	dir := bytes.Repeat(one[header:header+entry], n)
	for i := range n {
		at := dir[i*entry:]
		binary.LittleEndian.PutUint32(at[42:], uint32(i*header))
		strconv.AppendInt(at[46:46], int64(n+i), 10)
	}
	end := bytes.Clone(one[len(one)-22:])
	binary.LittleEndian.PutUint16(end[10:], n&0xffff)
	binary.LittleEndian.PutUint32(end[12:], uint32(len(dir)))
	binary.LittleEndian.PutUint32(end[16:], uint32(len(local)))
	data := slices.Concat(local, dir, end)

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	told, last := 0, error(nil)
	for _, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), archive.Limits{Entries: 5000}) {
		if last = err; err == nil {
			told++
		}
	}
	runtime.ReadMemStats(&after)
	if told != 0 || !errors.Is(last, archive.ErrLimit) { // its directory says enough
		t.Errorf("%d entries, %v", told, last)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

// Past 65,535 entries, the end of a zip is written in another way.
func TestAZipOfManyEntries(t *testing.T) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range 70_000 {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	for limit, want := range map[int]error{70_000: nil, 69_999: archive.ErrLimit} {
		n, last := 0, error(nil)
		for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), archive.Limits{Entries: limit}) {
			if last = err; err == nil {
				if e.Path != strconv.Itoa(n) || e.Refused != nil {
					t.Fatalf("entry %d is %q, %v", n, e.Path, e.Refused)
				}
				n++
			}
		}
		if want != nil {
			limit = 0 // told before the first
		}
		if n != limit || !errors.Is(last, want) {
			t.Errorf("%d entries, %v", n, last)
		}
	}
}

// Cuts of an archive anywhere are survived, and what was told before the cut is told
// as it was.
func TestCutsAreSurvived(t *testing.T) {
	members := []member{{"a.txt", "alpha"}, {"in.zip", string(zipOf(t, member{"b.txt", "beta"}))}, {"c.txt", "gamma"}}
	for name, data := range map[string][]byte{"zip": zipOf(t, members...), "tar": tarOf(t, members...), "tar.gz": gzipOf(t, tarOf(t, members...))} {
		whole, err := told(t, data, archive.Limits{})
		if err != nil || len(whole) != 3 {
			t.Fatal(name, whole, err)
		}
		dir := t.TempDir()
		for n := 0; n < len(data); n += 3 {
			got, err := told(t, data[:n], archive.Limits{TempDir: dir})
			if name == "zip" && err == nil {
				t.Fatalf("%s cut to %d of %d bytes is whole: %q", name, n, len(data), got)
			}
			for i, line := range got {
				if i < len(whole) && line != whole[i] && !strings.Contains(line, "! ") {
					t.Fatalf("%s cut to %d bytes: %q", name, n, line)
				}
			}
		}
	}
}

func FuzzWalk(f *testing.F) {
	members := []member{{"a.txt", "alpha"}, {"b/in.zip", string(zipOf(f, member{"b.txt", "beta"}))}}
	f.Add(zipOf(f, members...))
	f.Add(tarOf(f, members...))
	f.Add(gzipOf(f, tarOf(f, members...)))
	f.Add(rawZip(stored("a", "1"), rawEntry{name: "b", at: 1}))
	dir := f.TempDir()
	limits := archive.Limits{Entries: 100, EntryBytes: 1 << 20, TotalBytes: 4 << 20, TempDir: dir}
	f.Fuzz(func(t *testing.T, data []byte) {
		total, entries := 0, 0
		seen := map[string]bool{}
		for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), limits) {
			if err != nil {
				break
			}
			entries++
			if e.Refused != nil {
				continue
			}
			if bad := strings.HasPrefix(e.Path, "/") || strings.Contains("/"+e.Path+"/", "/../") ||
				strings.ContainsAny(e.Path, "\\\x00") || e.Path == "" || seen[e.Path]; bad {
				t.Fatalf("path %q", e.Path)
			}
			seen[e.Path] = true
			n, _ := io.Copy(io.Discard, e.Body)
			total += int(n)
		}
		if total > 4<<20 || entries > 200 {
			t.Fatalf("%d bytes in %d entries", total, entries)
		}
	})
}
