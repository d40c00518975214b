package archive

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// Kind is a format of archives.
type Kind string

// Kinds of archives.
const (
	Zip      Kind = "zip"
	Tar      Kind = "tar"
	TarGzip  Kind = "tar.gz"
	TarBzip2 Kind = "tar.bz2"
)

// headBytes is how much of a file's beginning Detect wants.
const headBytes = 16 << 10

// Detect says which archive a file beginning with head looks like, by its
// content alone. Of a zip, only IsArchive can say whether it is a document. A
// bzip2 file shows what is in it after its first block, which may be 900 kB
// unpacked: here any counts.
func Detect(head []byte) (Kind, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return Zip, true
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		if unzip, err := gzip.NewReader(bytes.NewReader(head)); err == nil && beginsWithTar(unzip) {
			return TarGzip, true
		}
	case isBzip2(head):
		return TarBzip2, true
	case isTar(head):
		return Tar, true
	}
	return "", false
}

// isBzip2 wants the header and the mark of the first block.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		string(head[4:10]) == "\x31\x41\x59\x26\x53\x59"
}

// IsArchive says whether the file is an archive that Walk walks, and which. A
// document that is a zip file by construction is none. A damaged archive is
// one: Walk tells how far it can be read.
func IsArchive(r io.ReaderAt, size int64) (Kind, bool) {
	head := make([]byte, min(headBytes, max(size, 0)))
	if err := readFull(r, head, 0); err != nil {
		return "", false
	}
	kind, ok := Detect(head)
	switch {
	case !ok:
		return "", false
	case kind == Zip:
		return kind, !isDocument(r, size)
	case kind == TarBzip2:
		return kind, beginsWithTar(bzip2.NewReader(io.NewSectionReader(r, 0, size)))
	}
	return kind, true
}

const tarBlock = 512

func beginsWithTar(r io.Reader) bool {
	block := make([]byte, tarBlock)
	n, _ := io.ReadFull(r, block) // a head may be cut off behind the block
	return isTar(block[:n])
}

// isTar wants a first header with the right sum, which no other file has by
// chance, and a name.
func isTar(head []byte) bool {
	if len(head) < tarBlock {
		return false
	}
	block := bytes.NewReader(head[:tarBlock])
	_, err := tar.NewReader(block).Next()
	// A header may be about the next one, which is not here.
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) && block.Len() == 0 && isTarExtension(head[156])
}

func isTarExtension(typeflag byte) bool {
	return strings.IndexByte("xgLKS", typeflag) >= 0
}

// isDocument says that a zip file is a document, by the files that its kind has
// to have: OOXML, OpenDocument and EPUB, iWork, programs of Java and Android.
func isDocument(r io.ReaderAt, size int64) bool {
	dir, err := openZip(r, size)
	if err != nil { // cut off: writers of documents begin with these
		first, err := readLocal(r, 0, size)
		return err == nil && (isDocumentMark(first.name) || first.name == "mimetype" || first.name == "_rels/.rels")
	}
	document := false
	_ = dir.each(func(h zipHeader) error {
		document = isDocumentMark(h.name) || h.name == "mimetype" && dir.beginsWith(h, "application/")
		if document {
			return errStopped
		}
		return nil
	})
	return document
}

func isDocumentMark(name string) bool {
	switch name {
	case "[Content_Types].xml", "META-INF/MANIFEST.MF", "META-INF/container.xml", "AndroidManifest.xml", "Index/Document.iwa":
		return true
	}
	return false
}
