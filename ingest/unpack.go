package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"ragagent/ingest/archive"
	"ragagent/store"
)

// keepersAtOnce is how many files of an archive are written at a time: they
// share the syncs of the records.
const keepersAtOnce = 32

// Unpacked is what became of a file in an archive.
type Unpacked struct {
	Path        string // with the archive's before it
	Name        string
	DocumentID  string // "" where Err is set
	JobID       string
	Revision    int
	Status      store.Status
	DuplicateOf string // as in Submitted
	Err         error  // why it was not taken
}

// Unpack accepts the files of an archive, each as Submit does one, under the
// archive's path. isArchive false says that file is none, and nothing was done.
// What an archive holds of other programs' housekeeping is left out.
//
// An archive that turns out to be damaged, or to pass a limit, or takes longer
// than Config.UnpackTimeout, ends with an Unpacked of its own that says so;
// what came before it stays. The error, if nothing at all was taken up, is as
// that of Submit.
func (s *Service) Unpack(ctx context.Context, idOrName string, up Upload, file io.ReaderAt, size int64) (all []Unpacked, isArchive bool, err error) {
	if _, isArchive = archive.IsArchive(file, size); !isArchive {
		return nil, false, nil
	}
	doc, err := s.draft(ctx, idOrName, up)
	if err != nil {
		return nil, true, err
	}
	doc.MIME, doc.GivenTitle = "", "" // are said of the archive
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.UnpackTimeout,
		fmt.Errorf("not unpacked after %s: divide the archive", s.cfg.UnpackTimeout))
	defer cancel()
	u := &unpacking{Service: s, doc: doc}
	u.keepers.SetLimit(keepersAtOnce)
	err = u.walk(ctx, file, size)
	_ = u.keepers.Wait() // what went wrong is in the list
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		u.all = append(u.all, &Unpacked{Path: doc.Sources[0].Path, Name: doc.Name, Status: store.StatusFailed, Err: unreadableArchive(err)})
	}
	for _, one := range u.all {
		all = append(all, *one)
	}
	return all, true, nil
}

// unpacking is one archive on its way.
type unpacking struct {
	*Service
	doc     store.Document // what all files have in common
	all     []*Unpacked
	keepers errgroup.Group
}

func (u *unpacking) walk(ctx context.Context, file io.ReaderAt, size int64) error {
	limits := archive.Limits{EntryBytes: u.cfg.MaxFileBytes, TempDir: u.cfg.TempDir}
	for entry, err := range archive.Walk(ctx, file, size, limits) {
		if err != nil {
			return err
		}
		if errors.Is(entry.Refused, archive.ErrJunk) {
			continue
		}
		if err := u.entry(ctx, entry); err != nil {
			return err
		}
	}
	return nil
}

// refused notes why a file is not taken; the walk goes on.
func (o *Unpacked) refused(err error) error {
	o.Err = err
	return nil
}

// document is the one that a file of the archive becomes.
func (u *unpacking) document(out *Unpacked) (store.Document, error) {
	doc := u.doc
	source := u.doc.Sources[0]
	path, err := belowArchive(source, out.Path)
	if err != nil {
		return doc, err
	}
	doc.Sources = []store.Source{{Origin: source.Origin, Path: path}}
	doc.Name, err = cleanName(out.Name)
	return doc, err
}

// belowArchive cleans the path of a file in an archive, which begins with the
// archive's. A URL stays as it is.
func belowArchive(archive store.Source, path string) (string, error) {
	if archive.Origin != originURL {
		return CleanPath(path)
	}
	inside, err := CleanPath(strings.TrimPrefix(path, archive.Path+"/"))
	if path = archive.Path + "/" + inside; err == nil && len(path) > store.MaxPath {
		err = store.Invalid("path", "has %d bytes, at most %d are allowed", len(path), store.MaxPath)
	}
	return path, err
}

// entry stages a file and lets a keeper do the rest. Its error ends the walk.
func (u *unpacking) entry(ctx context.Context, entry archive.Entry) error {
	out := &Unpacked{Path: u.doc.Sources[0].Path + "/" + entry.Path, Name: path.Base(entry.Path), Status: store.StatusFailed}
	u.all = append(u.all, out)
	if entry.Body == nil {
		return out.refused(entry.Refused)
	}
	doc, err := u.document(out)
	if err != nil {
		return out.refused(err)
	}
	staged, err := u.cfg.Blobs.Stage(ctx, entry.Body, u.cfg.MaxFileBytes)
	if err != nil {
		if ctx.Err() != nil || store.IsFull(err) {
			return err
		}
		return out.refused(fmt.Errorf("store %q: %w", doc.Name, err))
	}
	u.keepers.Go(func() error {
		u.admit(ctx, doc, staged, out)
		return nil
	})
	return nil
}

// admit commits a staged file and notes what became of it.
func (u *unpacking) admit(ctx context.Context, doc store.Document, staged store.Staged, out *Unpacked) {
	done, err := u.keepAs(ctx, doc, staged, arrival{kind: store.JobIngest})
	if out.Err = err; err != nil {
		return
	}
	*out = Unpacked{
		Path: done.Source.Path, Name: done.Document.Name, DocumentID: done.Document.ID, JobID: done.Job.ID,
		Revision: done.Job.Revision, Status: done.Document.Status, DuplicateOf: done.DuplicateOf,
	}
}

// unreadableArchive makes an error of walking that the file is to blame for one
// that names it.
func unreadableArchive(err error) error {
	for _, fault := range []error{archive.ErrDamaged, archive.ErrBomb, archive.ErrLimit, archive.ErrEncrypted, archive.ErrMethod} {
		if errors.Is(err, fault) {
			return store.Invalid("file", "%v", err)
		}
	}
	return err
}

// IsRefusal says whether an error of Unpacked is about the file, in words for
// users.
func IsRefusal(err error) bool {
	for _, fault := range []error{
		archive.ErrPath, archive.ErrSpecial, archive.ErrEncrypted, archive.ErrDuplicate, archive.ErrMethod, archive.ErrTooLarge,
		archive.ErrNesting, archive.ErrBomb, archive.ErrDamaged, archive.ErrLimit, archive.ErrUnknown, context.DeadlineExceeded,
	} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}
