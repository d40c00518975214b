package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/ingest/archive"
)

// bzipped is a tar file with "a.txt": "hello bzip2\n", made by bzip2 1.0.8.
const bzipped = "QlpoOTFBWSZTWcCmpLkAAHH7hMqQAUBAAXWAAAhyZN5QAACACCAAdBpI2oGmgeUBpptQSU1NANNAAAPuitzIQTvASIRnHU0SkHJIGCLEnLcZvmSJTIQV+konudr3BEh2zSmECCa4+UNnN9TVryIgPxdyRThQkMCmpLk="

func TestFilesComeInTheArchivesOrder(t *testing.T) {
	members := []member{{"b.txt", "second"}, {"docs/", ""}, {"docs/a.md", "# A"}, {"./c.txt", ""}}
	want := []string{"b.txt: second", "docs/a.md: # A", "c.txt: "}
	bz, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	tarred := tarOf(t, members[0])
	folder := tar.Header{Name: "docs/", Typeflag: tar.TypeDir, Mode: 0o755}
	rest := tarOf(t, members[2], members[3])
	tarred = append(tarred[:1024], append(tarWith(t, []tar.Header{folder}, nil)[:512], rest...)...)
	for _, c := range []struct {
		name string
		data []byte
		kind archive.Kind
		want []string
	}{
		{"zip", zipOf(t, members...), archive.Zip, want},
		{"tar", tarred, archive.Tar, want},
		{"tar.gz", gzipOf(t, tarred), archive.TarGzip, want},
		{"tar.bz2", bz, archive.TarBzip2, []string{"a.txt: hello bzip2\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, ok := archive.IsArchive(bytes.NewReader(c.data), int64(len(c.data)))
			if kind != c.kind || !ok {
				t.Errorf("kind %q, %v", kind, ok)
			}
			got, err := told(t, c.data, archive.Limits{})
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEntriesHaveSizeAndTime(t *testing.T) {
	when := time.Date(2024, 5, 17, 10, 30, 1, 0, time.UTC)
	zipped := zipWith(t, zip.FileHeader{Name: "a.txt", Modified: when}, "four")
	tarred := tarWith(t, []tar.Header{{Name: "a.txt", Size: 4, ModTime: when}}, []string{"four"})
	for _, data := range [][]byte{zipped, tarred} {
		for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), archive.Limits{}) {
			if err != nil || e.Size != 4 || !e.ModTime.Equal(when) {
				t.Errorf("size %d, time %v, error %v", e.Size, e.ModTime, err)
			}
		}
	}
}

func TestDocumentsAreNoArchives(t *testing.T) {
	gz := gzipOf(t, []byte("a single file"))
	for name, data := range map[string][]byte{
		"docx":         zipOf(t, member{"word/document.xml", "<w/>"}, member{"[Content_Types].xml", "<Types/>"}),
		"jar":          zipOf(t, member{"META-INF/MANIFEST.MF", "Manifest-Version: 1.0"}),
		"epub":         rawZip(stored("mimetype", "application/epub+zip"), stored("a.xhtml", "<p>")),
		"docx cut off": zipOf(t, member{"[Content_Types].xml", "<Types/>"}, member{"word/document.xml", "<w/>"})[:90],
		"gz":           gz,
		"text":         []byte("BZh is no archive, nor is PK"),
		"empty":        nil,
	} {
		if kind, ok := archive.IsArchive(bytes.NewReader(data), int64(len(data))); ok {
			t.Errorf("%s is taken for an archive, %s", name, kind)
		}
		if _, err := told(t, data, archive.Limits{}); !errors.Is(err, archive.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, data := range map[string][]byte{
		"mimetype as any file": rawZip(stored("mimetype", "a text about media types")),
		"docx inside":          zipOf(t, member{"a/[Content_Types].xml", ""}),
		"empty zip":            zipOf(t),
	} {
		if _, ok := archive.IsArchive(bytes.NewReader(data), int64(len(data))); !ok {
			t.Errorf("%s is not taken for an archive", name)
		}
	}
}

func TestNoPathLeaves(t *testing.T) {
	for name, want := range map[string]string{
		"../a.txt":            "../a.txt! path",
		"a/../../b.txt":       "a/../../b.txt! path",
		"a/../b.txt":          "a/../b.txt! path",
		"/etc/passwd":         "/etc/passwd! path",
		`\\server\share\a`:    `\\server\share\a! path`,
		`C:\a.txt`:            `C:\a.txt! path`,
		"c:a.txt":             "c:a.txt! path",
		`..\a.txt`:            `..\a.txt! path`,
		"a\x00.txt":           "a.txt! path",
		".":                   ".! path",
		"..\u200e/a":          "../a! path", // a mark of direction does not hide the dots
		`docs\a.txt`:          "docs/a.txt: x",
		"./a//b/./c.txt":      "a/b/c.txt: x",
		"..a/b..":             "..a/b..: x",
		"a\u202etxt.exe":      "atxt.exe: x",
		"u\u0308ber.txt":      "über.txt: x",
		"a\nb.txt":            "ab.txt: x",
		" padded /name.txt ":  "padded/name.txt: x",
		"__MACOSX/._a.txt":    "__MACOSX/._a.txt! junk",
		"repo/.git/HEAD":      "repo/.git/HEAD! junk",
		"a/.DS_Store":         "a/.DS_Store! junk",
		"Thumbs.db":           "Thumbs.db! junk",
		"._a.txt":             "._a.txt! junk",
		".gitignore":          ".gitignore: x",
		"k\u00f6ln/a.txt":     "köln/a.txt: x",
		"a/b/c/d/e/f/g/h.txt": "a/b/c/d/e/f/g/h.txt! path",
	} {
		got, err := told(t, rawZip(stored(name, "x")), archive.Limits{PathDepth: 7})
		if err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
	long := string(bytes.Repeat([]byte("é"), 600))
	got, _ := told(t, rawZip(stored(long, "x")), archive.Limits{})
	if want := long[:1024] + "! path"; len(got) != 1 || got[0] != want {
		t.Errorf("a long name: %q", got)
	}
}

func TestNamesInOldCodePages(t *testing.T) {
	got, err := told(t, rawZip(stored("r\x81ckblick.txt", "x")), archive.Limits{}) // code page 437
	if err != nil || !slices.Equal(got, []string{"rückblick.txt: x"}) {
		t.Errorf("zip: %q, %v", got, err)
	}
	tarred := tarWith(t, []tar.Header{{Name: "r_ckblick.txt", Size: 1, Format: tar.FormatUSTAR}}, []string{"x"})
	tarred[1] = 0xfc
	fixChecksum(tarred)
	got, err = told(t, tarred, archive.Limits{})
	if err != nil || !slices.Equal(got, []string{"rückblick.txt: x"}) {
		t.Errorf("tar: %q, %v", got, err)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	got, err := told(t, rawZip(
		rawEntry{name: "link", unix: true, attributes: 0o120777 << 16, data: []byte("/etc/passwd"), size: 11},
		rawEntry{name: "pipe", unix: true, attributes: 0o010644 << 16},
		rawEntry{name: "folder", unix: true, attributes: 0o040755 << 16},
		rawEntry{name: "secret", flags: 1, data: []byte("????????????")},
		rawEntry{name: "deflate64", method: 9},
		stored("a.txt", "one"), stored("A.txt", "two"), stored("./a.txt", "three"),
	), archive.Limits{})
	want := []string{"link! special", "pipe! special", "secret! encrypted", "deflate64! method",
		"a.txt: one", "A.txt: two", "a.txt! duplicate"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = told(t, tarWith(t, []tar.Header{
		{Name: "soft", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"},
		{Name: "pipe", Typeflag: tar.TypeFifo},
		{Name: "tty", Typeflag: tar.TypeChar},
		{Name: "disk", Typeflag: tar.TypeBlock},
	}, nil), archive.Limits{})
	want = []string{"soft! special", "hard! special", "pipe! special", "tty! special", "disk! special"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestACallerMayStopAndMayLeaveContentUnread(t *testing.T) {
	data := gzipOf(t, tarOf(t, member{"a", "1"}, member{"b", "2"}, member{"c", "3"}))
	var body io.Reader
	for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), archive.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Path == "b" {
			body = e.Body
			break
		}
	}
	if n, err := body.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("after the walk %d bytes were read, %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range archive.Walk(ctx, bytes.NewReader(data), int64(len(data)), archive.Limits{}) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled walk ended with %v", last)
	}
}

// Whatever is put in comes out, in all formats and when nested in one another.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé]{1,8}(/[a-z]{1,5}){0,3}\.txt`), 0, 8, rapid.ID).Draw(rt, "names")
		var members []member
		var want []string
		for _, name := range names {
			text := rapid.StringN(0, 60, 90).Draw(rt, "text")
			members = append(members, member{name, text})
			want = append(want, "in.x/"+name+": "+text)
		}
		inner := zipOf(t, members...)
		if rapid.Bool().Draw(rt, "tar inside") {
			inner = tarOf(t, append([]member{{"first", ""}}, members...)...)
			want = append([]string{"in.x/first: "}, want...)
		}
		outer := gzipOf(t, tarOf(t, member{"in.x", string(inner)}))
		if rapid.Bool().Draw(rt, "zip outside") {
			outer = zipOf(t, member{"in.x", string(inner)})
		}
		got, err := told(t, outer, archive.Limits{})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			rt.Fatal(diff, err)
		}
	})
}

// fixChecksum makes the first header of a tar file valid again.
func fixChecksum(data []byte) {
	copy(data[148:156], "        ")
	sum := 0
	for _, b := range data[:512] {
		sum += int(b)
	}
	for i := 5; i >= 0; i-- {
		data[148+i] = byte('0' + sum&7)
		sum >>= 3
	}
	data[154], data[155] = 0, ' '
}
