package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mixup is something that happens to a data folder as a whole, not to the bytes
// of one file: a copy of another age, a file of another folder, a folder in the
// place of a file.
type mixup struct {
	name string
	do   func(t *testing.T, dir, older string)
	// finds is what verify says, in a problem or for not being able to begin; ""
	// if nothing is lost and nothing can be known.
	finds string
}

// recordsOf puts the database of another folder in the place of one.
func recordsOf(t *testing.T, dir, other string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		write(t, filepath.Join(dir, recordsFile+suffix), read(t, filepath.Join(other, recordsFile+suffix)))
	}
}

// folderAt puts a folder with something in it in the place of a file.
func folderAt(t *testing.T, path string) {
	t.Helper()
	must(t, os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "inside"), 0o700))
}

func mixups() []mixup {
	records := func(dir, suffix string) string { return filepath.Join(dir, recordsFile+suffix) }
	noise := func(n int) []byte { return []byte(strings.Repeat("noise \x00\xff", n/8)) }
	return []mixup{
		{"an older database", func(t *testing.T, dir, older string) { recordsOf(t, dir, older, "") }, "the database file"},
		{"an older database with its checksums", func(t *testing.T, dir, older string) { recordsOf(t, dir, older, "", ".sums") }, "no document"},
		{"an older database without checksums", func(t *testing.T, dir, older string) {
			recordsOf(t, dir, older, "")
			must(t, os.Remove(records(dir, ".sums")))
		}, "no document"},
		{"checksums of an older database", func(t *testing.T, dir, older string) { recordsOf(t, dir, older, ".sums") }, "the database file"},
		{"truncated checksums", func(t *testing.T, dir, _ string) {
			raw := read(t, records(dir, ".sums"))
			write(t, records(dir, ".sums"), raw[:len(raw)/2])
		}, "the checksums in"},
		{"empty checksums", func(t *testing.T, dir, _ string) { write(t, records(dir, ".sums"), nil) }, "the checksums in"},
		{"garbage in the log", func(t *testing.T, dir, _ string) { write(t, records(dir, "-wal"), noise(40_000)) }, recordsFile + "-wal"},
		{"a little garbage in the log", func(t *testing.T, dir, _ string) { write(t, records(dir, "-wal"), noise(16)) }, recordsFile + "-wal"},
		{"garbage in the log, without checksums", func(t *testing.T, dir, _ string) {
			write(t, records(dir, "-wal"), noise(40_000))
			must(t, os.Remove(records(dir, ".sums")))
		}, recordsFile + "-wal"},
		{"a log of another database", func(t *testing.T, dir, _ string) { write(t, records(dir, "-wal"), foreignLog(t)) }, recordsFile + "-wal"},
		{"two blobs of two knowledge bases change places", func(t *testing.T, dir, _ string) {
			a, b := reportBlobs(t, dir)[0], reportBlobs(t, dir)[3]
			rawA, rawB := read(t, a), read(t, b)
			write(t, a, rawB)
			write(t, b, rawA)
		}, "has changed"},
		{"older side files", func(t *testing.T, dir, older string) {
			must(t, os.RemoveAll(filepath.Join(dir, indexesFolder)))
			must(t, os.CopyFS(filepath.Join(dir, indexesFolder), os.DirFS(filepath.Join(older, indexesFolder))))
		}, ""},
		{"side files of another folder", func(t *testing.T, dir, _ string) {
			from, err := filepath.Glob(filepath.Join(filled(t), indexesFolder, "*.side"))
			to, err2 := filepath.Glob(filepath.Join(dir, indexesFolder, "*.side"))
			must(t, err, err2)
			for i := range to {
				write(t, to[i], read(t, from[i]))
			}
		}, "it is the file"},
		{"a folder for the database", func(t *testing.T, dir, _ string) { folderAt(t, records(dir, "")) }, recordsFile},
		{"a folder for the checksums", func(t *testing.T, dir, _ string) { folderAt(t, records(dir, ".sums")) }, recordsFile + ".sums"},
		{"a folder for the log", func(t *testing.T, dir, _ string) { folderAt(t, records(dir, "-wal")) }, recordsFile + "-wal"},
		{"a folder for the shared index", func(t *testing.T, dir, _ string) { folderAt(t, records(dir, "-shm")) }, recordsFile + "-shm"},
		{"a folder for an original", func(t *testing.T, dir, _ string) { folderAt(t, reportBlobs(t, dir)[0]) }, "cannot be read"},
		{"a file for a folder of blobs", func(t *testing.T, dir, _ string) {
			shard := filepath.Dir(reportBlobs(t, dir)[0])
			must(t, os.RemoveAll(shard))
			write(t, shard, []byte("x"))
		}, "blobs"},
		{"a file for all blobs", func(t *testing.T, dir, _ string) {
			must(t, os.RemoveAll(filepath.Join(dir, blobsFolder)))
			write(t, filepath.Join(dir, blobsFolder), []byte("x"))
		}, "blobs"},
	}
}

// foreignLog is what a database leaves that is killed: valid, of another file.
func foreignLog(t *testing.T) []byte {
	t.Helper()
	data := t.TempDir()
	srv := startServer(t, data)
	if err := srv.client().ensureKnowledgeBase(t.Context(), "elsewhere"); err != nil {
		t.Fatal(err)
	}
	srv.kill()
	return read(t, filepath.Join(data, recordsFile+"-wal"))
}

// TestMixups does some, all with RAGAGENT_DAMAGES, one at a time: verify finds it, a server does not crash from
// it, and what it does not concern answers as before.
func TestMixups(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	sound := filled(t)
	older := copyOf(t, sound)
	changeReports(t, sound)
	runs(t, "verify", "--data", sound)
	want := answersOf(t, sound, "letters")
	all := mixups()
	seeded(t).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, c := range all[:min(len(all), setting(t, "RAGAGENT_DAMAGES", 8))] {
		t.Run(c.name, func(t *testing.T) {
			dir := copyOf(t, sound)
			c.do(t, dir, older)
			code, out, msg := command(t, "verify", "--data", copyOf(t, dir))
			if found := code == exitFailed && strings.Contains(out+msg, c.finds); found != (c.finds != "") {
				t.Errorf("verify: exit %d, want %q\n%s%s", code, c.finds, out, msg)
			}
			srv, said := tryServer(t, dir)
			if srv == nil {
				if c.finds == "" || !strings.Contains(said, c.finds) {
					t.Errorf("the server did not start, and said %q", said)
				}
				return
			}
			api := srv.client()
			if got := lettersOf(t, api); got != want {
				t.Errorf("the other knowledge base answers\n%s\nnot\n%s", got, want)
			}
			_ = api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": "crates code7x", "knowledge_bases": []string{"reports"}}, nil)
			if err := api.get(t.Context(), "/healthz", nil); err != nil {
				t.Errorf("the server has died: %v", err)
			}
		})
	}
}

// changeReports deletes a document of one knowledge base and adds another.
func changeReports(t *testing.T, data string) {
	t.Helper()
	e := &env{ctx: t.Context(), stdout: t.Output(), stderr: t.Output()}
	err := withClient(e, reachFlags{dataFlags: dataFlags{Data: data}}, modelFlags{}, true, func(api *client) error {
		_, err := api.upload(t.Context(), "reports", "late.md", strings.NewReader(killText(77)))
		first := ""
		failed := eachDocument(t.Context(), api, "reports", func(d listedDocument) {
			if first == "" {
				first = d.ID
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		resp, err := api.send(t.Context(), "DELETE", fmt.Sprintf("/api/v1/knowledge-bases/reports/documents/%s", first), nil, "", "")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
