package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ragagent/store"
)

const documentColumns = `d.id, d.kb_id, d.name, d.title, d.status, d.error, d.mime, d.bytes, d.sha256,
	d.text_sha256, d.text_bytes, d.pages, d.chunk_count, d.metadata, d.warnings, d.revision,
	d.created_at, d.updated_at`

const (
	oneDocument = ` FROM documents d WHERE d.id = ?1 AND (?2 = '' OR d.kb_id = ?2)`

	selectDocument      = `SELECT ` + documentColumns + oneDocument
	selectKeyedDocument = `SELECT d.key, ` + documentColumns + oneDocument

	selectBlobInUse = `SELECT EXISTS (SELECT 1 FROM documents WHERE sha256 = ?1)
		OR EXISTS (SELECT 1 FROM documents WHERE text_sha256 = ?1)`
)

func scanDocument(row scanner) (d store.Document, err error) {
	err = row.Scan(&d.ID, &d.KnowledgeBaseID, &d.Name, &d.Title, &d.Status, &d.Error, &d.MIME, &d.Bytes, &d.SHA256,
		&d.TextSHA256, &d.TextBytes, &d.Pages, &d.ChunkCount, metadata{&d.Metadata}, stringList{&d.Warnings},
		&d.Revision, timestamp{&d.CreatedAt}, timestamp{&d.UpdatedAt})
	return d, err
}

// AddDocument implements store.Documents.
func (db *DB) AddDocument(ctx context.Context, doc store.Document, job store.Job) (
	stored store.Document, storedJob store.Job, duplicate bool, err error,
) {
	doc.Status, doc.Error, doc.ChunkCount, doc.Revision = store.StatusQueued, "", 0, 0
	job.Status, job.DocumentID, job.KnowledgeBaseID = store.StatusQueued, doc.ID, doc.KnowledgeBaseID
	if err := checkDocument(doc, job); err != nil {
		return store.Document{}, store.Job{}, false, err
	}
	err = db.write(ctx, "add document "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		// Nobody writes between this look and the insert: the transaction
		// holds the only write lock since it began.
		duplicate = false
		stored, err = documentByContent(ctx, tx, doc.KnowledgeBaseID, doc.SHA256)
		if err == nil {
			duplicate = true
			storedJob, err = latestJob(ctx, tx, stored.ID)
			return err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := insertDocument(ctx, tx, doc, job); err != nil {
			return err
		}
		if stored, err = scanDocument(tx.QueryRowContext(ctx, selectDocument, doc.ID, "")); err != nil {
			return err
		}
		storedJob, err = latestJob(ctx, tx, doc.ID)
		return err
	})
	if err != nil {
		return store.Document{}, store.Job{}, false, err
	}
	return stored, storedJob, duplicate, nil
}

func checkDocument(doc store.Document, job store.Job) error {
	if err := checkNamed(doc.ID, doc.Name); err != nil {
		return err
	}
	switch {
	case job.ID == "":
		return store.Invalid("job.id", "it is empty")
	case doc.SHA256 == "":
		return store.Invalid("sha256", "it is empty")
	case job.Revision < 1:
		return store.Invalid("job.revision", "%d: revisions count from 1", job.Revision)
	}
	return nil
}

// documentByContent finds the document that has the content already.
func documentByContent(ctx context.Context, tx *sql.Tx, kb, sha256 string) (store.Document, error) {
	return scanDocument(tx.QueryRowContext(ctx, `SELECT `+documentColumns+` FROM documents d
		WHERE d.kb_id = ? AND d.sha256 = ?`, kb, sha256))
}

func insertDocument(ctx context.Context, tx *sql.Tx, d store.Document, job store.Job) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO documents
		(id, kb_id, name, title, status, error, mime, bytes, sha256, text_sha256, text_bytes, pages,
		 chunk_count, metadata, warnings, revision, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.KnowledgeBaseID, d.Name, d.Title, d.Status, d.Error, d.MIME, d.Bytes, d.SHA256,
		d.TextSHA256, d.TextBytes, d.Pages, d.ChunkCount, metadata{&d.Metadata}, stringList{&d.Warnings},
		d.Revision, timestamp{&d.CreatedAt}, timestamp{&d.UpdatedAt})
	if err != nil {
		return err
	}
	key, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return insertJob(ctx, tx, key, job)
}

// Document implements store.Documents.
func (db *DB) Document(ctx context.Context, kb, id string) (doc store.Document, err error) {
	doc, err = scanDocument(db.stmts.document.QueryRowContext(ctx, id, kb))
	return doc, failure("document "+id, err)
}

// Documents implements store.Documents.
func (db *DB) Documents(ctx context.Context, kb string, page store.Page) (all []store.Document, err error) {
	err = db.read(ctx, "list documents of "+kb, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+documentColumns+` FROM documents d
			WHERE d.kb_id = ? AND d.id > ? ORDER BY d.id LIMIT ?`, kb, page.After, page.Size())
		all, err = collect(rows, err, scanDocument)
		return err
	})
	return all, err
}

// DeleteDocument implements store.Documents.
func (db *DB) DeleteDocument(ctx context.Context, kb, id string) (doc store.Document, err error) {
	err = db.write(ctx, "delete document "+id, func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		if doc, key, err = db.keyedDocument(ctx, tx, kb, id); err != nil {
			return err
		}
		// Its rows are named one kind after the other: the cascade does the same
		// by looking each of them up twice.
		for _, remove := range []*sql.Stmt{db.stmts.deleteChunks, db.stmts.deleteJobs, db.stmts.deleteDocument} {
			if err := execPrepared(ctx, tx, remove, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return store.Document{}, err
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

// SetParsed implements store.Documents.
func (db *DB) SetParsed(ctx context.Context, doc store.Document) error {
	return db.write(ctx, "record parsing of "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		return db.setParsed(ctx, tx, doc)
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

// setDocumentStatus follows a job's status. A document that is ready stays so
// while a job makes its next revision, or fails to.
func (db *DB) setDocumentStatus(ctx context.Context, tx *sql.Tx, key int64, status store.Status, reason string) error {
	now := db.now()
	_, err := tx.ExecContext(ctx, `UPDATE documents SET status = ?, error = ?, updated_at = ?
		WHERE key = ? AND (status <> 'ready' OR revision = 0)`, status, reason, timestamp{&now}, key)
	if err != nil {
		return fmt.Errorf("set document %s: %w", status, err)
	}
	return nil
}
