package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ragagent/store"
)

// Sink takes what an archive holds, each body to its end. What it was given is
// known to be right only when Read has returned nil.
type Sink interface {
	Records(r io.Reader) error
	// Blob is called in ascending order of sha256, which is 64 lower-case hex
	// digits. Read compares the body with it afterwards.
	Blob(ctx context.Context, sha256 string, r io.Reader) error
}

// Discard is a Sink for reading an archive only to check it.
var Discard Sink = discard{}

type discard struct{}

func (discard) Records(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func (discard) Blob(_ context.Context, _ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// Read reads an archive of size bytes and checks all of it: the names, the
// hash of every entry, and that exactly what the manifest lists is there. An
// archive that is cut off, changed or no backup is store.ErrDamaged, one of a
// later version store.ErrConflict. No more than size bytes are ever handed on.
func Read(ctx context.Context, r io.Reader, size int64, sink Sink) (Manifest, error) {
	all := store.ContextReader(ctx, r)
	a := &reader{ctx: ctx, all: all, tar: tar.NewReader(all), left: size, sink: sink}
	m, err := a.read()
	if err == nil || ctx.Err() != nil {
		return m, errors.Join(err, ctx.Err())
	}
	return m, fmt.Errorf("read the backup: %w", err)
}

type reader struct {
	ctx     context.Context
	all     io.Reader
	tar     *tar.Reader // of all
	left    int64       // bytes that may still come
	sink    Sink
	entries []Entry // what came, before the manifest
	last    string  // hash of the last blob
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", store.ErrDamaged, fmt.Sprintf(format, args...))
}

// next returns the header of the next entry, if it is a plain file of a size
// that can be.
func (a *reader) next() (*tar.Header, error) {
	h, err := a.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, damaged("it ends too early: it was cut off, or is no backup")
	case err != nil:
		return nil, damaged("%v", err)
	case h.Typeflag != tar.TypeReg:
		return nil, damaged("%q is not a plain file", h.Name)
	case h.Size < 0 || h.Size > a.left:
		// Also what a sparse file would become.
		return nil, damaged("%q claims %d bytes", h.Name, h.Size)
	}
	a.left -= h.Size
	return h, nil
}

func (a *reader) read() (Manifest, error) {
	h, err := a.next()
	if err != nil {
		return Manifest{}, err
	}
	if h.Name != recordsName {
		return Manifest{}, damaged("it begins with %q instead of %s: it is no backup", h.Name, recordsName)
	}
	if err := a.entry(h, a.sink.Records); err != nil {
		return Manifest{}, err
	}
	for {
		if h, err = a.next(); err != nil {
			return Manifest{}, err
		}
		if h.Name == manifestName {
			return a.end(h)
		}
		if err := a.blob(h); err != nil {
			return Manifest{}, err
		}
	}
}

// entry hands the body on and notes what it was.
func (a *reader) entry(h *tar.Header, take func(io.Reader) error) error {
	sum := sha256.New()
	body := &source{r: a.tar, w: sum}
	if err := take(body); err != nil {
		if body.err != nil {
			return damaged("%s: %v", h.Name, body.err)
		}
		return err
	}
	if body.n != h.Size {
		return damaged("%s has %d bytes instead of %d", h.Name, body.n, h.Size)
	}
	a.entries = append(a.entries, Entry{Name: h.Name, Bytes: h.Size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// source tells errors of the archive from those of where it goes.
type source struct {
	r   io.Reader
	w   io.Writer
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	_, _ = s.w.Write(p[:n]) // a hash takes everything
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func (a *reader) blob(h *tar.Header) error {
	shard, rest, ok := strings.Cut(strings.TrimPrefix(h.Name, blobsPrefix), "/")
	hash := shard + rest
	if !ok || !store.IsSHA256(hash) || h.Name != blobName(hash) {
		return damaged("%q is not the name of a blob", h.Name)
	}
	if hash <= a.last {
		return damaged("%s is out of order", h.Name)
	}
	a.last = hash
	if err := a.entry(h, func(r io.Reader) error { return a.sink.Blob(a.ctx, hash, r) }); err != nil {
		return err
	}
	if got := a.entries[len(a.entries)-1].SHA256; got != hash {
		return damaged("%s hashes to %s", h.Name, got)
	}
	return nil
}

// end reads the manifest and compares it with what came before.
func (a *reader) end(h *tar.Header) (m Manifest, err error) {
	if h.Size > maxManifest {
		return m, damaged("its manifest claims %d bytes", h.Size)
	}
	raw, err := io.ReadAll(a.tar)
	if err != nil {
		return m, damaged("its manifest: %v", err)
	}
	if h, err = a.next(); err != nil {
		return m, err
	}
	want := sumLine(sha256.Sum256(raw))
	sum, err := io.ReadAll(io.LimitReader(a.tar, int64(len(want))+1))
	if h.Name != sumName || err != nil || !bytes.Equal(sum, want) {
		return m, damaged("its manifest is not the one that was written")
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.Format != Format {
		return m, damaged("its manifest is none: %v", err)
	}
	if m.Version > Version {
		return m, fmt.Errorf("%w: it is of version %d and this program reads %d: use a newer ragagent", store.ErrConflict, m.Version, Version)
	}
	if !slices.Equal(m.Entries, a.entries) {
		return m, damaged("it does not hold what its manifest lists")
	}
	if _, err := a.tar.Next(); !errors.Is(err, io.EOF) {
		return m, damaged("something follows the manifest: %v", err)
	}
	return m, a.ended()
}

// ended is damage if anything follows the end of the archive, where no tar
// reader looks: what was written ends there.
func (a *reader) ended() error {
	switch _, err := io.ReadFull(a.all, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return damaged("after its end: %v", err)
	}
	return damaged("it goes on after its end: something was appended")
}
