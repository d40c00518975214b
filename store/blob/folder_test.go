package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/blob"
)

// The SHA-256 of "abc" (FIPS 180-2, B.1).
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func keepABC(t *testing.T, d *blob.Dir) {
	t.Helper()
	staged, err := d.Stage(t.Context(), strings.NewReader("abc"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(staged.Commit(), staged.Discard()); err != nil {
		t.Fatal(err)
	}
}

func TestLayout(t *testing.T) {
	dir := t.TempDir()
	keepABC(t, open(t, dir))
	got, err := os.ReadFile(filepath.Join(dir, "ba", abc[2:]))
	if err != nil || string(got) != "abc" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestNewClearsWhatWasStaged(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	keepABC(t, d)
	if _, err := d.Stage(t.Context(), strings.NewReader("never committed"), 100); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if left() != 1 {
		t.Fatalf("%d files are staged, want 1", left())
	}
	again := open(t, dir)
	if left() != 0 {
		t.Errorf("%d staged files are left of the process before", left())
	}
	b, err := again.Open(t.Context(), abc)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

func TestFailedStageLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	if _, err := d.Stage(t.Context(), strings.NewReader("too long"), 3); !errors.Is(err, store.ErrTooLarge) {
		t.Fatalf("error is %v, want %v", err, store.ErrTooLarge)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil || len(entries) != 0 {
		t.Errorf("staged are %v, %v, want nothing", entries, err)
	}
}

func TestCommitHealsADamagedFile(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	keepABC(t, d)
	path := filepath.Join(dir, "ba", abc[2:])
	if err := os.WriteFile(path, []byte("abX"), 0o600); err != nil {
		t.Fatal(err)
	}
	keepABC(t, d)
	if got, err := os.ReadFile(path); err != nil || string(got) != "abc" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	if err := os.Symlink(secret, filepath.Join(dir, "ba", abc[2:])); err != nil {
		t.Skipf("this system has no links: %v", err)
	}
	if b, err := d.Open(t.Context(), abc); err == nil {
		b.Close()
		t.Error("a link was followed out of the folder")
	}
	if err := d.Delete(t.Context(), abc); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(secret); err != nil {
		t.Errorf("the file outside: %v", err)
	}
}

func TestStrays(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	keepABC(t, d)
	for _, name := range []string{"note.txt", "ba/short", "ba/" + strings.ToUpper(abc[2:]), "zz/" + abc[2:]} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for name, err := range d.Strays(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name)
	}
	want := []string{"ba/" + strings.ToUpper(abc[2:]), "ba/short", "note.txt", "zz/" + abc[2:]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}
	for hash, err := range d.List(t.Context()) {
		if err != nil || hash != abc {
			t.Errorf("listed is %s, %v, want %s alone", hash, err, abc)
		}
	}
}

func TestNewNeedsAFolder(t *testing.T) {
	if _, err := blob.New(blob.Config{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("error is %v, want %v", err, store.ErrInvalid)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.New(blob.Config{Dir: file}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// TestUnsettled: a blob is under way from Commit to Discard, and stays so
// across a kill, until it is settled.
func TestUnsettled(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	keepABC(t, d)
	for range 2 {
		staged, err := d.Stage(t.Context(), strings.NewReader("abc"), 3)
		if err == nil {
			err = staged.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir)
	for _, want := range [][]string{{abc}, nil} {
		got, err := again.Unsettled(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, under way (-want +got):\n%s", err, diff)
		}
		if err := again.Settle(t.Context(), abc); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range again.Strays(t.Context()) {
		t.Errorf("stray %s, %v", name, err)
	}
}
