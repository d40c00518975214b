package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"ragagent/store"
)

// documentColumns are read from fromDocuments. What the row says of a content
// is of the visible one, but for sha256.
const documentColumns = `d.id, d.kb_id, d.name, d.title, d.status, d.error, d.mime, d.bytes,
	iif(d.shown_sha256 = '', d.sha256, d.shown_sha256),
	d.text_sha256, d.text_bytes, d.pages, d.chunk_count, d.metadata, d.warnings, d.revision,
	d.created_at, d.updated_at, d.given_title, d.given_metadata,
	(SELECT json_group_array(json_array(first.origin, first.path)) FROM
		(SELECT s.origin, s.path FROM sources s WHERE s.document = d.key ORDER BY s.origin, s.path LIMIT 100) first),
	d.sha256, p.revision, p.name, p.mime, p.bytes, p.text_sha256, p.text_bytes, p.given_title, p.given_metadata, p.created_at`

const fromDocuments = ` FROM documents d LEFT JOIN pending p ON p.document = d.key `

const (
	oneDocument = fromDocuments + `WHERE d.id = ?1 AND (?2 = '' OR d.kb_id = ?2)`

	selectDocument      = `SELECT ` + documentColumns + oneDocument
	selectKeyedDocument = `SELECT d.key, ` + documentColumns + oneDocument

	selectDocumentsByID = `SELECT ` + documentColumns + ` FROM json_each(?) wanted
		CROSS JOIN documents d ON d.id = wanted.value LEFT JOIN pending p ON p.document = d.key`

	selectBlobInUse = `SELECT EXISTS (SELECT 1 FROM documents WHERE sha256 = ?1)
		OR EXISTS (SELECT 1 FROM documents WHERE text_sha256 = ?1)
		OR EXISTS (SELECT 1 FROM documents WHERE shown_sha256 = ?1 AND shown_sha256 <> '')
		OR EXISTS (SELECT 1 FROM pending WHERE text_sha256 = ?1 AND text_sha256 <> '')`

	selectUnusedBlobs = `SELECT wanted.value FROM json_each(?1) wanted
		WHERE NOT EXISTS (SELECT 1 FROM documents WHERE sha256 = wanted.value)
		AND NOT EXISTS (SELECT 1 FROM documents WHERE text_sha256 = wanted.value)
		AND NOT EXISTS (SELECT 1 FROM documents WHERE shown_sha256 = wanted.value AND shown_sha256 <> '')
		AND NOT EXISTS (SELECT 1 FROM pending WHERE text_sha256 = wanted.value AND text_sha256 <> '')`
)

func scanDocument(row scanner) (d store.Document, err error) {
	var p pendingRow
	err = row.Scan(append([]any{&d.ID, &d.KnowledgeBaseID, &d.Name, &d.Title, &d.Status, &d.Error, &d.MIME, &d.Bytes, &d.SHA256,
		&d.TextSHA256, &d.TextBytes, &d.Pages, &d.ChunkCount, metadata{&d.Metadata}, stringList{&d.Warnings},
		&d.Revision, timestamp{&d.CreatedAt}, timestamp{&d.UpdatedAt}, &d.GivenTitle, metadata{&d.GivenMetadata},
		sourceList{&d.Sources}}, p.fields()...)...)
	if err == nil {
		d.Pending, err = p.pending()
	}
	return d, err
}

// pendingRow is a row of pending that may not be there.
type pendingRow struct {
	sha256                 string // of the document
	revision               sql.NullInt64
	name, mime             sql.NullString
	bytes, textBytes       sql.NullInt64
	textSHA256, givenTitle sql.NullString
	givenMetadata          sql.NullString
	createdAt              sql.NullInt64
}

func (p *pendingRow) fields() []any {
	return []any{&p.sha256, &p.revision, &p.name, &p.mime, &p.bytes, &p.textSHA256, &p.textBytes, &p.givenTitle, &p.givenMetadata, &p.createdAt}
}

func (p *pendingRow) pending() (*store.Pending, error) {
	if !p.revision.Valid {
		return nil, nil
	}
	out := &store.Pending{
		Revision: int(p.revision.Int64), Name: p.name.String, MIME: p.mime.String, Bytes: p.bytes.Int64, SHA256: p.sha256,
		TextSHA256: p.textSHA256.String, TextBytes: p.textBytes.Int64, GivenTitle: p.givenTitle.String,
	}
	if err := (timestamp{&out.CreatedAt}).Scan(p.createdAt.Int64); err != nil {
		return nil, err
	}
	return out, metadata{&out.GivenMetadata}.Scan(p.givenMetadata.String)
}

// sourceList reads sources from JSON.
type sourceList struct{ slice *[]store.Source }

func (l sourceList) Scan(src any) error {
	var pairs [][2]string
	if err := (jsonValue{&pairs}).Scan(src); err != nil {
		return err
	}
	*l.slice = nil
	for _, p := range pairs {
		*l.slice = append(*l.slice, store.Source{Origin: p[0], Path: p[1]})
	}
	return nil
}

// Document implements store.Documents.
func (db *DB) Document(ctx context.Context, kb, id string) (doc store.Document, err error) {
	doc, err = scanDocument(db.stmts.document.QueryRowContext(ctx, id, kb))
	return doc, failure("document "+id, err)
}

// DocumentsByID implements store.Documents.
func (db *DB) DocumentsByID(ctx context.Context, ids []string) (all []store.Document, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := db.stmts.documentsByID.QueryContext(ctx, string(wanted))
	all, err = collect(rows, err, scanDocument)
	return all, failure(fmt.Sprintf("read %d documents", len(ids)), err)
}

// Documents implements store.Documents.
func (db *DB) Documents(ctx context.Context, kb string, page store.Page) (all []store.Document, err error) {
	err = db.read(ctx, "list documents of "+kb, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+documentColumns+fromDocuments+`
			WHERE d.kb_id = ? AND d.id > ? ORDER BY d.id LIMIT ?`, kb, page.After, page.Size())
		all, err = collect(rows, err, scanDocument)
		return err
	})
	return all, err
}

// DeleteDocument implements store.Documents.
func (db *DB) DeleteDocument(ctx context.Context, kb, id string) (doc store.Document, err error) {
	err = db.write(ctx, "delete document "+id, func(ctx context.Context, tx *sql.Tx) error {
		doc, err = db.deleteDocument(ctx, tx, kb, id)
		return err
	})
	if err != nil {
		return store.Document{}, err
	}
	return doc, nil
}

func (db *DB) deleteDocument(ctx context.Context, tx *sql.Tx, kb, id string) (store.Document, error) {
	doc, key, err := db.keyedDocument(ctx, tx, kb, id)
	if err != nil {
		return doc, err
	}
	// Its many rows are named one kind after the other: the cascade does the
	// same by looking each of them up twice.
	for _, remove := range []*sql.Stmt{db.stmts.deleteChunks, db.stmts.deleteJobs, db.stmts.deleteDocument} {
		if err := execPrepared(ctx, tx, remove, key); err != nil {
			return doc, err
		}
	}
	return doc, nil
}

func (db *DB) keyedDocument(ctx context.Context, tx *sql.Tx, kb, id string) (d store.Document, key int64, err error) {
	find := tx.StmtContext(ctx, db.stmts.keyedDocument)
	defer find.Close()
	d, err = scanDocument(scanBefore{find.QueryRowContext(ctx, id, kb), &key})
	return d, key, err
}

// scanBefore scans one column more, before those that scan asks for.
type scanBefore struct {
	row   scanner
	first any
}

func (s scanBefore) Scan(dest ...any) error { return s.row.Scan(append([]any{s.first}, dest...)...) }

// UpdateDocument implements store.Documents.
func (db *DB) UpdateDocument(ctx context.Context, kb, id string, change func(*store.Document) error) (doc store.Document, err error) {
	err = db.write(ctx, "update document "+id, func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		if doc, key, err = db.keyedDocument(ctx, tx, kb, id); err != nil {
			return err
		}
		if err := change(&doc); err != nil {
			return err
		}
		now := db.now()
		if _, err := tx.ExecContext(ctx, `UPDATE documents SET metadata = ?, given_metadata = ?, updated_at = ? WHERE key = ?`,
			metadata{&doc.Metadata}, metadata{&doc.GivenMetadata}, timestamp{&now}, key); err != nil {
			return err
		}
		if doc.Pending != nil {
			if _, err := tx.ExecContext(ctx, `UPDATE pending SET given_metadata = ? WHERE document = ?`,
				metadata{&doc.Pending.GivenMetadata}, key); err != nil {
				return err
			}
		}
		doc, _, err = db.keyedDocument(ctx, tx, kb, id)
		return err
	})
	if err != nil {
		return store.Document{}, err
	}
	return doc, nil
}

// SetParsed implements store.Documents.
func (db *DB) SetParsed(ctx context.Context, jobID string, doc store.Document) error {
	return db.write(ctx, "record parsing of "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if doc.ID != t.document {
			return store.Invalid("document", "job %s works on %s, not on %s", jobID, t.document, doc.ID)
		}
		if t.pending != t.revision {
			return db.setParsed(ctx, tx, doc)
		}
		_, err = tx.ExecContext(ctx, `UPDATE pending SET text_sha256 = ?, text_bytes = ? WHERE document = ?`, doc.TextSHA256, doc.TextBytes, t.key)
		return err
	})
}

func (db *DB) setParsed(ctx context.Context, tx *sql.Tx, d store.Document) error {
	if d.TextSHA256 == "" {
		return store.Invalid("text_sha256", "it is empty: a parsed document has a text")
	}
	now := db.now()
	return changed(tx.ExecContext(ctx, `UPDATE documents
		SET title = ?, mime = ?, text_sha256 = ?, text_bytes = ?, pages = ?, metadata = ?, warnings = ?, updated_at = ?
		WHERE id = ?`,
		d.Title, d.MIME, d.TextSHA256, d.TextBytes, d.Pages, metadata{&d.Metadata}, stringList{&d.Warnings},
		timestamp{&now}, d.ID))
}

// BlobInUse implements store.Documents.
func (db *DB) BlobInUse(ctx context.Context, sha256 string) (used bool, err error) {
	if sha256 == "" { // documents that were not parsed have no text
		return false, nil
	}
	err = db.stmts.blobInUse.QueryRowContext(ctx, sha256).Scan(&used)
	return used, failure("users of blob "+sha256, err)
}

// UnusedBlobs implements store.Documents.
func (db *DB) UnusedBlobs(ctx context.Context, sha256s []string) (unused []string, err error) {
	if len(sha256s) == 0 {
		return nil, nil
	}
	wanted, err := json.Marshal(sha256s)
	if err != nil {
		return nil, err
	}
	err = db.read(ctx, "unused blobs", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectUnusedBlobs, string(wanted))
		unused, err = collect(rows, err, func(row scanner) (hash string, err error) {
			err = row.Scan(&hash)
			return hash, err
		})
		return err
	})
	return unused, err
}

// setDocumentStatus follows the status of a job, if no later one has the say.
func (db *DB) setDocumentStatus(ctx context.Context, tx *sql.Tx, t target, status store.Status, reason string) error {
	if t.pending != 0 && t.pending != t.revision {
		return nil
	}
	now := db.now()
	_, err := tx.ExecContext(ctx, `UPDATE documents SET status = ?, error = ?, updated_at = ? WHERE key = ?`,
		status, reason, timestamp{&now}, t.key)
	if err != nil {
		return fmt.Errorf("set document %s: %w", status, err)
	}
	return nil
}
