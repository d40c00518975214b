package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"testing"

	"ragagent/ingest/archive"
)

// member is an entry that a test puts into an archive.
type member struct{ name, text string }

func zipOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err == nil {
			_, err = io.WriteString(f, m.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipWith(t testing.TB, h zip.FileHeader, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.CreateHeader(&h)
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var headers []tar.Header
	var texts []string
	for _, m := range members {
		headers = append(headers, tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg})
		texts = append(texts, m.text)
	}
	return tarWith(t, headers, texts)
}

func tarWith(t testing.TB, headers []tar.Header, texts []string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i, h := range headers {
		err := w.WriteHeader(&h)
		if err == nil && i < len(texts) {
			_, err = io.WriteString(w, texts[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rawEntry is an entry of a zip that a test writes byte by byte.
type rawEntry struct {
	name       string
	method     uint16
	flags      uint16
	data       []byte // as it lies in the file
	size       uint32 // as claimed
	crc        uint32
	attributes uint32
	unix       bool
	at         int // of an earlier local header to point at; 0 writes one
}

func rawZip(entries ...rawEntry) []byte {
	var out, dir []byte
	le := binary.LittleEndian
	for _, e := range entries {
		offset := e.at - 1
		if e.at == 0 {
			offset = len(out)
			out = append(out, "PK\x03\x04\x14\x00"...)
			out = append(out, rawFields(e)...)
			out = append(append(out, e.name...), e.data...)
		}
		maker := byte(0)
		if e.unix {
			maker = 3
		}
		dir = append(append(dir, "PK\x01\x02\x14"...), maker, 0x14, 0)
		dir = append(dir, rawFields(e)...)
		dir = append(dir, make([]byte, 6)...)
		dir = le.AppendUint32(dir, e.attributes)
		dir = le.AppendUint32(dir, uint32(offset))
		dir = append(dir, e.name...)
	}
	end := append([]byte("PK\x05\x06\x00\x00\x00\x00"), make([]byte, 14)...)
	le.PutUint16(end[8:], uint16(len(entries)))
	le.PutUint16(end[10:], uint16(len(entries)))
	le.PutUint32(end[12:], uint32(len(dir)))
	le.PutUint32(end[16:], uint32(len(out)))
	return append(append(out, dir...), end...)
}

// rawFields are those which both headers of an entry have.
func rawFields(e rawEntry) []byte {
	le := binary.LittleEndian
	out := le.AppendUint16(nil, e.flags)
	out = le.AppendUint16(out, e.method)
	out = append(out, 0, 0, 0x21, 0x50) // 1 January 2020
	out = le.AppendUint32(out, e.crc)
	out = le.AppendUint32(out, uint32(len(e.data)))
	out = le.AppendUint32(out, e.size)
	out = le.AppendUint16(out, uint16(len(e.name)))
	return le.AppendUint16(out, 0)
}

func stored(name, text string) rawEntry {
	return rawEntry{name: name, data: []byte(text), size: uint32(len(text)), crc: crc32.ChecksumIEEE([]byte(text))}
}

// told is what a walk said, a line an entry: "path: text" or "path! reason".
func told(t testing.TB, data []byte, limits archive.Limits) (lines []string, end error) {
	t.Helper()
	if limits.TempDir == "" {
		limits.TempDir = t.TempDir()
	}
	for e, err := range archive.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), limits) {
		if err != nil {
			end = err
			continue
		}
		if end != nil {
			t.Fatalf("%q comes after the end: %v", e.Path, end)
		}
		lines = append(lines, line(e))
	}
	return lines, end
}

func line(e archive.Entry) string {
	if e.Refused != nil {
		return e.Path + "! " + reason(e.Refused)
	}
	text, err := io.ReadAll(e.Body)
	if err != nil {
		return fmt.Sprintf("%s: %s! %s", e.Path, text, reason(err))
	}
	if len(text) > 100 {
		return fmt.Sprintf("%s: %d bytes", e.Path, len(text))
	}
	return e.Path + ": " + string(text)
}

func reason(err error) string {
	for name, known := range map[string]error{
		"junk": archive.ErrJunk, "path": archive.ErrPath, "special": archive.ErrSpecial, "encrypted": archive.ErrEncrypted,
		"duplicate": archive.ErrDuplicate, "method": archive.ErrMethod, "large": archive.ErrTooLarge,
		"nesting": archive.ErrNesting, "bomb": archive.ErrBomb, "damaged": archive.ErrDamaged, "limit": archive.ErrLimit,
		"unknown": archive.ErrUnknown,
	} {
		if errors.Is(err, known) {
			return name
		}
	}
	return err.Error()
}
