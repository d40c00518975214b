package ingest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"ragagent/store"
)

// Rememberer is implemented by record stores that remember what was deleted.
type Rememberer interface {
	// DeletedDocuments yields what is remembered, in the order of deletion.
	DeletedDocuments(ctx context.Context) iter.Seq2[store.DeletedDocument, error]
	// Remains lists what the records still hold of one, none if nothing.
	Remains(ctx context.Context, d store.DeletedDocument) ([]string, error)
	// Quoting counts the messages whose citations name a deleted document.
	Quoting(ctx context.Context) (int, error)
}

// maxRevisions is how many of the latest revisions of a deleted document are
// looked for.
const maxRevisions = 100

// DeletedReport says which deleted documents were looked for.
type DeletedReport struct {
	Documents int `json:"documents"` // that are remembered
	// Shared are blobs of theirs that are there because other documents have
	// the same content.
	Shared int `json:"shared_blobs"`
	// Quoting are stored answers that quote one of them. They are kept until
	// their conversation is deleted.
	Quoting int `json:"quoting_messages"`
	// SideFiles says that what is kept of the indexes on the disk was looked at
	// too: a server writes it as it goes, and does not.
	SideFiles bool `json:"side_files"`
}

// VerifyDeleted looks for anything that is left of deleted documents: rows and
// chunks in the records, chunks in the indexes of words and vectors, originals
// and texts in the blob folder. Documents may be deleted meanwhile. What is not
// remembered any more (store/sqlite.DB.DeletedDocuments) is not looked for.
func (s *Service) VerifyDeleted(ctx context.Context) (Report, error) {
	v := &verifier{Service: s, report: Report{Problems: []Problem{}, Deleted: &DeletedReport{}}}
	m, ok := s.cfg.Records.(Rememberer)
	if !ok {
		return v.report, fmt.Errorf("%w: these records do not remember what was deleted", store.ErrInvalid)
	}
	last := ""
	owners, hashes := map[string]string{}, map[string]string{}
	for d, err := range m.DeletedDocuments(ctx) {
		if err != nil {
			return v.report, fmt.Errorf("list deleted documents: %w", err)
		}
		if d.ID != last { // one with several originals comes several times
			v.report.Deleted.Documents++
		}
		last = d.ID
		for revision := max(0, d.Revision-maxRevisions); revision <= d.Revision+1; revision++ {
			owners[store.ChunkIDPrefix(d.ID, revision)] = d.ID
		}
		hashes[d.SHA256] = d.ID // "" is passed over
		hashes[d.TextSHA256] = d.ID
		found, err := m.Remains(ctx, d)
		if err != nil {
			return v.report, err
		}
		for _, f := range found {
			v.problem("deleted document "+d.ID, actRestore, "%s", f)
		}
	}
	s.order.settle() // deletions that were written down have left the indexes then
	if err := v.indexesOf(ctx, owners); err != nil {
		return v.report, err
	}
	if err := v.blobsOfDeleted(ctx, hashes); err != nil {
		return v.report, err
	}
	var err error
	v.report.Deleted.Quoting, err = m.Quoting(ctx)
	return v.report, err
}

// indexesOf looks in every index for chunks whose ids begin as those of owners.
func (v *verifier) indexesOf(ctx context.Context, owners map[string]string) error {
	inspector, ok := v.cfg.Indexer.(Inspector)
	if !ok {
		return nil
	}
	return v.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error {
		v.report.KnowledgeBases++
		if v.apart(kb.ID) {
			return nil // nothing of it is in an index
		}
		words, vectors, err := inspector.Contents(ctx, kb.ID)
		if err != nil {
			return fmt.Errorf("contents of %q: %w", kb.Name, err)
		}
		v.report.Chunks += len(words)
		v.report.Vectors += len(vectors)
		for index, ids := range map[string][]string{"lexical": words, "vector": vectors} {
			for _, id := range ids {
				if d, found := owners[id[:min(len(id), len(store.ChunkIDPrefix("", 0)))]]; found {
					v.problem("deleted document "+d, actRebuild, "the %s index of %s holds its chunk %s", index, kb.Name, id)
				}
			}
		}
		return nil
	})
}

// blobsOfDeleted looks for originals and texts that nothing else has.
func (v *verifier) blobsOfDeleted(ctx context.Context, hashes map[string]string) error {
	for _, hash := range slices.Sorted(maps.Keys(hashes)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !store.IsSHA256(hash) {
			continue
		}
		left, shared, err := v.leftBlob(ctx, hash)
		switch {
		case err != nil:
			return fmt.Errorf("users of blob %s: %w", hash, err)
		case shared:
			v.report.Deleted.Shared++
		case left:
			v.problem("deleted document "+hashes[hash], actRemove, "its content is still in the blob folder, as %s", hash)
		}
		v.report.Blobs++
	}
	return nil
}

// leftBlob says whether a blob is there, and whether because something needs it:
// another document, or a backup that is being written. Deletions that are under
// way are waited for.
func (v *verifier) leftBlob(ctx context.Context, hash string) (left, shared bool, err error) {
	for range looks {
		left, shared, err = v.lookForBlob(ctx, hash)
		if !left || shared || err != nil {
			break
		}
		v.order.settle()
	}
	return left, shared, err
}

func (v *verifier) lookForBlob(ctx context.Context, hash string) (left, shared bool, err error) {
	defer v.Service.blobs.lock(hash)()
	if v.absent(ctx, hash) {
		return false, false, nil
	}
	used, err := v.cfg.Records.BlobInUse(ctx, hash)
	return true, used || v.Service.blobs.isHeld(hash), err
}

// String says in a sentence what a sound report of deleted documents proves.
func (d DeletedReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "of %d deleted documents nothing is in the records, the indexes of words and vectors, and the blob folder", d.Documents)
	if d.Shared > 0 {
		fmt.Fprintf(&b, "; %d of their files are there because other documents or a running backup have them", d.Shared)
	}
	if d.Quoting > 0 {
		fmt.Fprintf(&b, "; %d stored answers quote them: delete those conversations to remove the quotes", d.Quoting)
	}
	if d.SideFiles {
		b.WriteString("; nor in the side files of the indexes. ")
	} else {
		b.WriteString("; side files of the indexes are not read while a server has them: they lose the words of deleted documents within a minute and on closing. ")
	}
	b.WriteString("Backups, older revisions, and free space of the disk are not looked at")
	return b.String()
}
