package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder is a folder of files that a test changes.
type folder struct {
	t   *testing.T
	dir string
}

func (f folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) remove(name string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// zip writes an archive of names and texts, by turns.
func (f folder) zip(name string, files ...string) {
	f.t.Helper()
	var b strings.Builder
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		entry, err := w.Create(files[i])
		if err == nil {
			_, err = entry.Write([]byte(files[i+1]))
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.write(name, b.String())
}

// TestSync follows a folder through additions, changes, renames and removals.
func TestSync(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := folder{t, t.TempDir()}
	sync := func(flags ...string) syncSummary {
		t.Helper()
		args := append([]string{"ingest", "--data", data, "--kb", "kb", "--json", "--sync", f.dir}, flags...)
		code, out, msg := command(t, args...)
		var sum ingestSummary
		if err := json.Unmarshal([]byte(out), &sum); err != nil || code != exitOK || len(sum.Failed) > 0 {
			t.Fatalf("sync: %d %v\n%s%s", code, err, out, msg)
		}
		return *sum.Sync
	}
	want := func(what string, want, got syncSummary) {
		t.Helper()
		for _, list := range []*[]string{&want.Added, &want.Changed, &want.Removed} {
			if *list == nil {
				*list = []string{}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	finds := func(word string, names ...string) {
		t.Helper()
		code, out, msg := command(t, "search", "--data", data, "--kb", "kb", "--json", word)
		var r retrieved
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK {
			t.Fatalf("search: %d %v\n%s%s", code, err, out, msg)
		}
		var got []string
		for _, h := range r.Hits {
			if strings.Contains(h.Text, word) {
				got = append(got, h.DocumentName)
			}
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s is found in (-want +got):\n%s", word, diff)
		}
	}

	f.write("a.md", "The owl is called Minerva.")
	f.write("sub/a.md", "The cat is called Murr.")
	f.write("sub/b.md", "The dog is called Argos.")
	f.write(".git/config", "hidden")
	want("a dry run", syncSummary{Added: []string{"a.md", "sub/a.md", "sub/b.md"}, DryRun: true}, sync("--dry-run"))
	want("the first", syncSummary{Added: []string{"a.md", "sub/a.md", "sub/b.md"}}, sync())
	want("nothing new", syncSummary{Unchanged: 3}, sync())
	finds("Minerva", "a.md")

	// By hand, under the same path: it is not the folder's.
	hand := folder{t, filepath.Join(t.TempDir(), "sub")}
	hand.write("b.md", "The parrot is called Vert-Vert.")
	runs(t, "ingest", "--data", data, "--kb", "kb", hand.dir)

	f.write("a.md", "The owl is called Athena.")
	f.remove("sub/a.md")
	if err := os.Rename(filepath.Join(f.dir, "sub/b.md"), filepath.Join(f.dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	f.zip("old.zip", "x/one.md", "The horse is called Bukephalos.", "two.md", "The goose is called Martin.")
	want("changes", syncSummary{
		Added: []string{"c.md", "old.zip/two.md", "old.zip/x/one.md"}, Changed: []string{"a.md"}, Removed: []string{"sub/a.md", "sub/b.md"},
	}, sync())
	finds("Minerva")
	finds("Athena", "a.md")
	finds("Murr")
	finds("Argos", "b.md") // the same document, which has the name it came with
	finds("Bukephalos", "one.md")
	finds("Vert-Vert", "b.md")

	f.zip("old.zip", "two.md", "The goose is called Alopochen.")
	want("in an archive", syncSummary{Changed: []string{"old.zip/two.md"}, Removed: []string{"old.zip/x/one.md"}, Unchanged: 2}, sync())
	finds("Bukephalos")
	finds("Alopochen", "two.md")

	for _, name := range []string{"a.md", "c.md", "old.zip", "sub"} {
		f.remove(name)
	}
	code, _, msg := command(t, "ingest", "--data", data, "--kb", "kb", "--sync", f.dir)
	if code != exitFailed || !strings.Contains(msg, "say --allow-empty") {
		t.Errorf("an empty folder: %d %s", code, msg)
	}
	want("an empty folder", syncSummary{Removed: []string{"a.md", "c.md", "old.zip/two.md"}}, sync("--allow-empty"))
	finds("Athena")
	finds("Vert-Vert", "b.md") // was not the folder's
	runs(t, "verify", "--data", data)
	runs(t, "verify", "--deleted", "--data", data)
}

// TestIngestOfArchives adds a folder with an archive in it, twice.
func TestIngestOfArchives(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := folder{t, filepath.Join(t.TempDir(), "box")}
	f.write("a.md", "The owl is called Minerva.")
	f.zip("b.zip", "in/a.md", "The cat is called Murr.", "in/b.md", "The dog is called Argos.")
	if out := runs(t, "ingest", "--data", data, "--kb", "kb", f.dir); out != "3 of 3 files ready\n" {
		t.Errorf("got %q", out)
	}
	f.zip("b.zip", "in/a.md", "The cat is called Behemoth.", "in/b.md", "The dog is called Argos.")
	if out := runs(t, "ingest", "--data", data, "--kb", "kb", f.dir); out != "3 of 3 files ready, 2 of them were there already\n" {
		t.Errorf("the second time: %q", out)
	}
	f.zip("broken.zip", "a.md", strings.Repeat("text ", 100))
	raw, err := os.ReadFile(filepath.Join(f.dir, "broken.zip"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("broken.zip", string(raw[:60]))
	if code, out, msg := command(t, "ingest", "--data", data, "--kb", "kb", filepath.Join(f.dir, "broken.zip")); code != exitFailed || !strings.Contains(msg, "broken.zip") {
		t.Errorf("a damaged one: %d %s%s", code, out, msg)
	}
	runs(t, "verify", "--data", data)
}

// TestSyncOfEmptyFiles: they are told, and are no errors; what came of one
// before it was emptied is not found any more.
func TestSyncOfEmptyFiles(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := folder{t, t.TempDir()}
	sync := func(wantOut, wantMsg string) {
		t.Helper()
		code, out, msg := command(t, "ingest", "--data", data, "--kb", "kb", "--sync", f.dir)
		if code != exitOK || !strings.HasPrefix(out, wantOut+"\n") || !strings.Contains(msg, wantMsg) {
			t.Errorf("sync: %d %q %q, want %q and %q", code, out, msg, wantOut, wantMsg)
		}
	}
	f.write("a.md", "The owl is called Minerva.")
	f.write("b.md", "The cat is called Murr.")
	f.zip("box.zip", "x.md", "The dog is called Argos.")
	f.write("pkg/__init__.py", "")
	for _, want := range []string{"3 added, 0 changed, 0 removed, 0 unchanged, 1 empty", "0 added, 0 changed, 0 removed, 3 unchanged, 1 empty"} {
		sync(want, "skipped, as there is nothing in them: pkg/__init__.py\n")
	}
	f.write("a.md", "")
	f.write("box.zip", "")
	sync("0 added, 0 changed, 2 removed, 1 unchanged, 3 empty", "removed, as the file is empty now: a.md\nremoved, as the file is empty now: box.zip/x.md\n")
	sync("0 added, 0 changed, 0 removed, 1 unchanged, 3 empty", "")
	f.write("a.md", "The owl is called Athena.")
	sync("1 added, 0 changed, 0 removed, 1 unchanged, 2 empty", "")
	f.write("a.md", "")
	f.write("b.md", "")
	code, _, msg := command(t, "ingest", "--data", data, "--kb", "kb", "--sync", f.dir)
	if code != exitFailed || !strings.Contains(msg, "say --allow-empty") {
		t.Errorf("nothing but empty files: %d %s", code, msg)
	}
}

// TestSyncOfWhatCannotBeRead: an archive that is refused, a name
// that cannot be stored and a folder in the way: each is told, the rest goes on,
// and nothing is removed of what could not be read.
func TestSyncOfWhatCannotBeRead(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := folder{t, t.TempDir()}
	sync := func(wantCode int) (ingestSummary, string) {
		t.Helper()
		code, out, msg := command(t, "ingest", "--data", data, "--kb", "kb", "--json", "--sync", f.dir)
		var sum ingestSummary
		if err := json.Unmarshal([]byte(out), &sum); err != nil || code != wantCode {
			t.Fatalf("sync: %d %v\n%s%s", code, err, out, msg)
		}
		return sum, msg
	}
	f.write("a.md", "The owl is called Minerva.")
	f.zip("box.zip", "x.md", "The cat is called Murr.", "y.md", "The dog is called Argos.")
	f.zip("cut.zip", "x.md", "The horse is called Bukephalos.")
	f.write("gone.md", "The goose is called Martin.")
	sync(exitOK)

	raw, err := os.ReadFile(filepath.Join(f.dir, "cut.zip"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("cut.zip", string(raw[:40]))
	f.write("bad\xff.md", "A name that is no UTF-8.")
	f.write("new.md", "The parrot is called Vert-Vert.")
	f.remove("gone.md")
	for range 2 { // what failed is told each time
		sum, _ := sync(exitFailed)
		var failed []string
		for _, one := range sum.Failed {
			failed = append(failed, strings.TrimPrefix(one.File, f.dir+"/")+": "+one.Error)
		}
		slices.Sort(failed)
		want := []string{
			"bad\uFFFD.md: its name cannot be stored: path: is not valid UTF-8",
			"cut.zip: ",
		}
		if len(failed) != len(want) {
			t.Fatalf("failed are %q", failed)
		}
		for i := range want {
			if !strings.HasPrefix(failed[i], want[i]) {
				t.Errorf("%q, want %q", failed[i], want[i])
			}
		}
	}
	for word, found := range map[string]bool{"Minerva": true, "Murr": true, "Argos": true, "Bukephalos": true, "Vert-Vert": true, "Martin": false} {
		out := runs(t, "search", "--data", data, "--kb", "kb", "--json", word)
		if strings.Contains(out, "is called "+word) != found {
			t.Errorf("%s is found: %v", word, !found)
		}
	}
	runs(t, "verify", "--data", data)
}

// TestSyncOfAFileThatGoes: one that is there when the folder is listed, and not
// when it is read, is told and keeps what is known of it.
func TestSyncOfAFileThatGoes(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("there.md", "text")
	s := folderSync{kept: map[string]bool{}}
	files := []upload{{file: filepath.Join(f.dir, "lost.md"), path: "lost.md"}, {file: filepath.Join(f.dir, "there.md"), path: "there.md"}}
	todo, unread, err := s.compare(t.Context(), files, map[string]source{"lost.md": {Path: "lost.md"}})
	if err != nil || len(todo) != 1 || todo[0].path != "there.md" || len(unread) != 1 || unread[0].path != "lost.md" || !errors.Is(unread[0].err, os.ErrNotExist) {
		t.Errorf("%v, %v, %v", todo, unread, err)
	}
}

func TestSyncStandsAlone(t *testing.T) {
	for _, args := range [][]string{
		{"--sync", t.TempDir(), t.TempDir()},
		{"--dry-run", t.TempDir()},
		{"--label", "x"},
		{},
	} {
		if code, _, msg := command(t, append([]string{"ingest", "--data", t.TempDir(), "--kb", "kb"}, args...)...); code != exitUsage {
			t.Errorf("%v: %d %s", args, code, msg)
		}
	}
}
