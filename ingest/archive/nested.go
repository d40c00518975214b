package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// nested tells an entry that looks like an archive: as the files in it, or as
// itself if it is a document after all. Archives are read from their ends, so
// it has to lie in a file meanwhile.
func (w *walker) nested(e Entry, body io.Reader, at level) error {
	f, size, err := w.spool(body)
	if err != nil {
		if w.ends(err) {
			return err
		}
		return w.refuse(e, err)
	}
	defer func() {
		f.Close()
		_ = os.Remove(f.Name()) // gone already, but where open files cannot be removed
	}()
	kind, ok := IsArchive(f, size)
	if !ok {
		return w.show(e, io.NewSectionReader(f, 0, size))
	}
	if at.depth >= w.limits.Nesting {
		return w.refuse(e, fmt.Errorf("%w: more than %d inside the first", ErrNesting, max(w.limits.Nesting, 0)))
	}
	err = w.archive(f, size, kind, level{prefix: e.Path + "/", depth: at.depth + 1})
	if err == nil || errors.Is(err, errStopped) || w.ends(err) {
		return err
	}
	return w.refuse(e, err)
}

// spool copies an entry into a temporary file that is gone when the process is.
func (w *walker) spool(body io.Reader) (*os.File, int64, error) {
	f, err := os.CreateTemp(w.limits.TempDir, "nested-archive-*")
	if err != nil {
		return nil, 0, fmt.Errorf("unpack a nested archive: %w", err)
	}
	_ = os.Remove(f.Name())
	n, err := io.Copy(f, body)
	if err != nil {
		f.Close()
		_ = os.Remove(f.Name())
		return nil, 0, fmt.Errorf("unpack a nested archive: %w", err)
	}
	return f, n, nil
}
