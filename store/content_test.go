package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"ragagent/store"
)

func TestIsSHA256(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for s, want := range map[string]bool{
		hash: true, strings.ToUpper(hash): false, hash[:63]: false, hash + "00": false, hash[:62] + "/x": false, "": false,
		"../" + hash[:61]: false, strings.Repeat("é", 32): false,
	} {
		if got := store.IsSHA256(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestContextReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := store.ContextReader(ctx, strings.NewReader("abcdef"))
	three := make([]byte, 3)
	if _, err := io.ReadFull(r, three); err != nil || string(three) != "abc" {
		t.Fatalf("%q, %v", three, err)
	}
	cancel()
	if n, err := r.Read(three); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestIsFull(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("write: %w", store.ErrFull):                     true,
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}: true,
		&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}: true,
		fmt.Errorf("copy: %w", syscall.EFBIG):                      true,
		&fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}:    false,
		store.ErrTooLarge: false,
	} {
		if got := store.IsFull(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if store.IsFull(nil) {
		t.Error("nothing is full")
	}
}
