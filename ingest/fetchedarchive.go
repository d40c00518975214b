package ingest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"ragagent/ingest/archive"
	"ragagent/ingest/fetch"
	"ragagent/store"
)

// sniffBytes is how much of a body is looked at to tell an archive.
const sniffBytes = 16 << 10

// fetched is a body that may be an archive. Archives are read from their ends,
// so that one lies in a file meanwhile.
type fetched struct {
	io.Reader          // the content
	file      *os.File // nil for what cannot be an archive
	size      int64    // of file
	archive   bool
	digest    string // of file
}

func (f *fetched) close() {
	if f.file != nil {
		_ = f.file.Close()           // it was only read
		_ = os.Remove(f.file.Name()) // gone already, but where open files cannot be removed
	}
}

// sniff looks whether a body is an archive. store.ErrTooLarge; the caller closes
// what it returns, also with an error.
func (s *Service) sniff(ctx context.Context, body io.Reader) (*fetched, error) {
	head := bufio.NewReaderSize(store.ContextReader(ctx, body), sniffBytes)
	f := &fetched{Reader: head}
	beginning, _ := head.Peek(sniffBytes) // its error comes again
	if _, ok := archive.Detect(beginning); !ok {
		return f, nil
	}
	var err error
	if f.file, err = os.CreateTemp(s.cfg.TempDir, "ragagent-fetched-*"); err != nil {
		return f, fmt.Errorf("keep the archive: %w", err)
	}
	_ = os.Remove(f.file.Name())
	sum := sha256.New()
	if f.size, err = io.Copy(io.MultiWriter(f.file, sum), io.LimitReader(head, s.cfg.MaxFileBytes+1)); err != nil {
		return f, fmt.Errorf("keep the archive: %w", err)
	}
	if f.size > s.cfg.MaxFileBytes {
		return f, fmt.Errorf("%w: more than %d bytes", store.ErrTooLarge, s.cfg.MaxFileBytes)
	}
	f.Reader = io.NewSectionReader(f.file, 0, f.size)
	_, f.archive = archive.IsArchive(f.file, f.size)
	f.digest = digestTag + hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

// digestTag begins what stands for the ETag of an archive whose server gives none.
const digestTag = "sha256:"

// tag gives the response an ETag: an archive that has not changed is left alone,
// so that what was deleted of it does not come back.
func (f *fetched) tag(resp *fetch.Response) {
	if f.archive && resp.ETag == "" {
		resp.ETag = f.digest
	}
}

// tagOf is the ETag that a server knows, "" if it gave none.
func tagOf(a store.Address) string {
	if strings.HasPrefix(a.ETag, digestTag) {
		return ""
	}
	return a.ETag
}

// fetchArchive makes documents of the files in an archive that the job's URL led
// to, and waits for their jobs. The job becomes that of the first of them, which
// is what the URL stands for from then on.
func (t *task) fetchArchive(ctx context.Context, doc store.Document, order order, resp *fetch.Response, f *fetched) error {
	all, _, err := t.Unpack(ctx, doc.KnowledgeBaseID, archiveFrom(order.URL, resp, doc.GivenMetadata), f.file, f.size)
	if err != nil {
		return err
	}
	taken := 0
	for _, one := range all {
		if one.Err == nil {
			taken++
		}
	}
	if taken == 0 {
		return fmt.Errorf("nothing in the archive was taken%s", leftOut(all))
	}
	done := 0
	for _, one := range all {
		if one.Err != nil {
			continue
		}
		t.report(store.Progress{Stage: store.StageFetch, Done: done, Total: taken})
		if err := t.await(ctx, one.JobID); err != nil {
			return err
		}
		done++
	}
	address := t.fetchedNow(store.Address{KnowledgeBaseID: doc.KnowledgeBaseID, URL: order.URL, Refresh: order.Refresh}, resp)
	address.Error = strings.TrimPrefix(leftOut(all), ": ")
	for _, one := range all {
		if one.Err != nil {
			continue
		}
		err := t.stand(ctx, doc, one.DocumentID, address)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return errors.New("all files of the archive were deleted while they were read")
}

func archiveFrom(page string, resp *fetch.Response, given store.Metadata) Upload {
	return fromURL(Upload{Name: resp.Name, Metadata: given}, page)
}

// stand lets the job, and the address it fetched, be those of a document that is
// there. store.ErrNotFound if it is not.
func (t *task) stand(ctx context.Context, was store.Document, id string, address store.Address) error {
	first, err := t.cfg.Records.Document(ctx, was.KnowledgeBaseID, id)
	if err != nil {
		return err
	}
	first = first.Upcoming()
	content, err := t.cfg.Blobs.Open(ctx, first.SHA256)
	if err != nil {
		return err
	}
	defer content.Close()
	staged, err := t.cfg.Blobs.Stage(ctx, content, t.cfg.MaxFileBytes)
	if err != nil {
		return fmt.Errorf("store %s: %w", address.URL, err)
	}
	defer func() { _ = staged.Discard() }() // nothing to do once committed
	if err := t.putFetched(ctx, was, staged, store.Fetched{
		Name: first.Name, MIME: first.MIME, Bytes: staged.Size(), SHA256: staged.SHA256(), Address: address,
	}); err != nil {
		return err
	}
	// The archive itself is no source: it would keep a document that has gone
	// from it.
	_, err = t.RemoveSource(ctx, was.KnowledgeBaseID, id, was.Sources[0])
	return err
}

// await returns when a job has ended, however, or has gone.
func (s *Service) await(ctx context.Context, job string) error {
	for _, err := range s.Watch(ctx, job) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return ctx.Err()
}

// maxLeftOut is how many files of an archive are named that were not taken.
const maxLeftOut = 3

// leftOut says of an archive's files which were not taken, "" if all were.
func leftOut(all []Unpacked) string {
	var b strings.Builder
	n := 0
	for _, one := range all {
		if one.Err == nil {
			continue
		}
		if n++; n <= maxLeftOut {
			fmt.Fprintf(&b, ": %s was left out, %v", one.Path, one.Err)
		}
	}
	if n > maxLeftOut {
		fmt.Fprintf(&b, ": and %d more", n-maxLeftOut)
	}
	return b.String()
}

// refreshArchive lets the documents of an archive follow what its URL leads to
// now: files that have changed become revisions, and what has gone from it goes.
func (s *Service) refreshArchive(ctx context.Context, a store.Address, resp *fetch.Response, f *fetched) (left string, err error) {
	first, err := s.cfg.Records.Document(ctx, a.KnowledgeBaseID, a.DocumentID)
	if err != nil {
		return "", err
	}
	up := archiveFrom(a.URL, resp, nil)
	all, _, err := s.Unpack(ctx, first.KnowledgeBaseID, up, f.file, f.size)
	if err != nil {
		return "", err
	}
	there := map[string]bool{}
	for _, one := range all {
		if one.Path == up.Path { // it was not read to its end
			return leftOut(all), one.Err
		}
		there[one.Path] = true
		if one.Err == nil && a.DocumentID == first.ID { // the first may go now
			a.DocumentID = one.DocumentID
			if err := s.cfg.Records.PutAddress(ctx, a); err != nil {
				return "", err
			}
		}
	}
	return leftOut(all), s.removeBelow(ctx, a.KnowledgeBaseID, up.Path+"/", there)
}

// removeBelow removes the sources of URLs below a path, but those of paths that
// are still there.
func (s *Service) removeBelow(ctx context.Context, kbID, prefix string, there map[string]bool) error {
	page := store.Page{After: prefix, Limit: store.MaxPage}
	for {
		rows, err := s.cfg.Records.Sources(ctx, kbID, originURL, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !strings.HasPrefix(row.Path, prefix) {
				return nil
			}
			if there[row.Path] {
				continue
			}
			if _, err := s.RemoveSource(ctx, kbID, row.DocumentID, row.Source); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if len(rows) < page.Size() {
			return nil
		}
		page.After = rows[len(rows)-1].Path
	}
}
