package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"ragagent/store"
)

// AddDocument implements store.Documents.
func (db *DB) AddDocument(ctx context.Context, doc store.Document, job store.Job) (store.Added, error) {
	return db.addAs(ctx, doc, job, db.add)
}

// adding is what decides what an upload is.
type adding func(ctx context.Context, tx *sql.Tx, doc store.Document, job store.Job, out *store.Added) error

func (db *DB) addAs(ctx context.Context, doc store.Document, job store.Job, add adding) (added store.Added, err error) {
	doc.Status, doc.Error, doc.ChunkCount, doc.Revision, doc.Pending = store.StatusQueued, "", 0, 0, nil
	job.Status, job.KnowledgeBaseID = store.StatusQueued, doc.KnowledgeBaseID
	if len(doc.Sources) == 0 {
		doc.Sources = []store.Source{{Path: doc.Name}}
	}
	if err := checkDocument(doc, job); err != nil {
		return store.Added{}, err
	}
	err = db.write(ctx, "add document "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		// Nobody writes between the looks and the changes: the transaction
		// holds the only write lock since it began.
		added = store.Added{}
		return add(ctx, tx, doc, job, &added)
	})
	if err != nil {
		return store.Added{}, err
	}
	return added, nil
}

func checkDocument(doc store.Document, job store.Job) error {
	if err := checkNamed(doc.ID, doc.Name); err != nil {
		return err
	}
	source := doc.Sources[0]
	switch {
	case job.ID == "":
		return store.Invalid("job.id", "it is empty")
	case doc.SHA256 == "":
		return store.Invalid("sha256", "it is empty")
	case job.Revision < 1:
		return store.Invalid("job.revision", "%d: revisions count from 1", job.Revision)
	case len(doc.Sources) > 1:
		return store.Invalid("sources", "%d come at once: one upload has one source", len(doc.Sources))
	case source.Path == "" || len(source.Path) > store.MaxPath:
		return store.Invalid("path", "has %d bytes, 1 to %d are allowed", len(source.Path), store.MaxPath)
	case len(source.Origin) > store.MaxOrigin:
		return store.Invalid("origin", "has %d bytes, at most %d are allowed", len(source.Origin), store.MaxOrigin)
	}
	return nil
}

// add decides what an upload is: see store.Documents.
func (db *DB) add(ctx context.Context, tx *sql.Tx, doc store.Document, job store.Job, out *store.Added) error {
	source := doc.Sources[0]
	known, err := db.keeperOf(ctx, tx, doc.KnowledgeBaseID, source)
	if err != nil {
		return err
	}
	same, key, err := db.documentByContent(ctx, tx, doc.KnowledgeBaseID, doc.SHA256)
	switch {
	case err == nil:
		out.Duplicate = true
		err = db.moveSource(ctx, tx, source, known, key, out)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	case known.key != 0 && !known.shared:
		same = known.id
		err = db.revise(ctx, tx, known.id, doc, job, out)
	default:
		same = doc.ID
		if key, err = db.insertDocument(ctx, tx, doc, job); err == nil {
			err = db.assign(ctx, tx, doc.KnowledgeBaseID, source, key)
		}
	}
	if err != nil {
		return err
	}
	if known.shared && same != known.id {
		out.Left = known.id
	}
	return db.tell(ctx, tx, same, out)
}

// tell fills in how a document and its job are now.
func (db *DB) tell(ctx context.Context, tx *sql.Tx, id string, out *store.Added) (err error) {
	if out.Document, _, err = db.keyedDocument(ctx, tx, "", id); err != nil {
		return err
	}
	out.Job, err = db.currentJob(ctx, tx, id)
	return err
}

// documentByContent finds the document whose latest content it is.
func (db *DB) documentByContent(ctx context.Context, tx *sql.Tx, kb, sha256 string) (id string, key int64, err error) {
	err = rowPrepared(ctx, tx, db.stmts.byContent, kb, sha256).Scan(&id, &key)
	return id, key, err
}

// moveSource lets a source stand for the document that has its content.
func (db *DB) moveSource(ctx context.Context, tx *sql.Tx, source store.Source, from keeper, key int64, out *store.Added) error {
	if from.key == key {
		return nil
	}
	var kb string
	if err := tx.QueryRowContext(ctx, `SELECT kb_id FROM documents WHERE key = ?`, key).Scan(&kb); err != nil {
		return err
	}
	if err := db.assign(ctx, tx, kb, source, key); err != nil {
		return err
	}
	if from.key == 0 || from.shared {
		return nil
	}
	removed, err := db.deleteDocument(ctx, tx, kb, from.id)
	out.Removed = &removed
	return err
}

const insertDocument = `INSERT INTO documents
	(id, kb_id, name, title, status, error, mime, bytes, sha256, text_sha256, text_bytes, pages,
	 chunk_count, metadata, warnings, revision, created_at, updated_at, given_title, given_metadata, latest)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func (db *DB) insertDocument(ctx context.Context, tx *sql.Tx, d store.Document, job store.Job) (key int64, err error) {
	title, properties := d.Title, d.Metadata
	if title == "" {
		title = d.GivenTitle
	}
	if properties == nil {
		properties = d.GivenMetadata
	}
	insert := tx.StmtContext(ctx, db.stmts.insertDocument)
	defer insert.Close()
	res, err := insert.ExecContext(ctx,
		d.ID, d.KnowledgeBaseID, d.Name, title, d.Status, d.Error, d.MIME, d.Bytes, d.SHA256,
		d.TextSHA256, d.TextBytes, d.Pages, d.ChunkCount, metadata{&properties}, stringList{&d.Warnings},
		d.Revision, timestamp{&d.CreatedAt}, timestamp{&d.UpdatedAt}, d.GivenTitle, metadata{&d.GivenMetadata}, job.Revision)
	if err != nil {
		return 0, err
	}
	if key, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	return key, db.insertJob(ctx, tx, key, job)
}

// Revise implements store.Documents.
func (db *DB) Revise(ctx context.Context, kb, id, title string, job store.Job) (added store.Added, err error) {
	job.Status = store.StatusQueued
	err = db.write(ctx, "revise document "+id, func(ctx context.Context, tx *sql.Tx) error {
		added = store.Added{}
		doc, _, err := db.keyedDocument(ctx, tx, kb, id)
		if err != nil {
			return err
		}
		next := doc.Upcoming()
		next.GivenTitle, next.CreatedAt = title, job.CreatedAt
		if err := db.revise(ctx, tx, id, next, job, &added); err != nil {
			return err
		}
		return db.tell(ctx, tx, id, &added)
	})
	if err != nil {
		return store.Added{}, err
	}
	return added, nil
}

// revise gives a document another content, or takes back that it was to get one.
func (db *DB) revise(ctx context.Context, tx *sql.Tx, id string, next store.Document, job store.Job, out *store.Added) error {
	was, key, err := db.keyedDocument(ctx, tx, "", id)
	if err != nil {
		return err
	}
	if out.Superseded, err = db.supersede(ctx, tx, key); err != nil {
		return err
	}
	inherit(&next, was.Upcoming())
	switch {
	case was.Revision > 0 && was.Pending != nil && next.SHA256 == was.SHA256 && next.SHA256 != was.Pending.SHA256:
		out.Duplicate = true
		err = db.takeBack(ctx, tx, key, was)
	case was.Revision > 0 || was.Pending != nil:
		err = db.setPending(ctx, tx, key, was, next, job)
	default:
		err = db.setContent(ctx, tx, key, next, job)
	}
	if err != nil {
		return err
	}
	now, _, err := db.keyedDocument(ctx, tx, "", id)
	out.Dropped = without(was.Blobs(), now.Blobs())
	return err
}

// inherit lets what was given before hold on, where nothing is given now.
func inherit(next *store.Document, was store.Document) {
	if next.GivenTitle == "" {
		next.GivenTitle = was.GivenTitle
	}
	if next.GivenMetadata == nil {
		next.GivenMetadata = was.GivenMetadata
	}
}

// supersede ends the jobs of a document that nothing came of yet, and removes
// what they stored.
func (db *DB) supersede(ctx context.Context, tx *sql.Tx, key int64) (job string, err error) {
	now := db.now()
	rows, err := tx.QueryContext(ctx, `UPDATE jobs SET status = 'cancelled', lease_until = 0, updated_at = ?1,
		error = 'a newer upload took the place of this one'
		WHERE document = ?2 AND status IN ('queued', 'running') AND revision <> (SELECT revision FROM documents WHERE key = ?2)
		RETURNING id`, timestamp{&now}, key)
	ended, err := collect(rows, err, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	})
	if err != nil {
		return "", fmt.Errorf("supersede: %w", err)
	}
	if len(ended) > 0 {
		job = ended[len(ended)-1]
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ?1
		AND revision NOT IN (SELECT revision FROM documents WHERE key = ?1 UNION ALL SELECT retiring FROM documents WHERE key = ?1)`, key)
	return job, err
}

// takeBack leaves a document at its visible revision.
func (db *DB) takeBack(ctx context.Context, tx *sql.Tx, key int64, was store.Document) error {
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE documents SET sha256 = ?1, shown_sha256 = '', error = '', updated_at = ?2,
		status = coalesce((SELECT status FROM jobs j WHERE j.document = ?3 AND j.revision = documents.revision
			AND j.status IN ('queued', 'running')), 'ready')
		WHERE key = ?3`, was.SHA256, timestamp{&now}, key); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM pending WHERE document = ?`, key)
	return err
}

// setPending puts a revision beside the visible one.
func (db *DB) setPending(ctx context.Context, tx *sql.Tx, key int64, was, next store.Document, job store.Job) error {
	revision, err := db.begin(ctx, tx, key, job)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM pending WHERE document = ?`, key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO pending
		(document, revision, name, mime, bytes, text_sha256, text_bytes, given_title, given_metadata, created_at)
		VALUES (?, ?, ?, ?, ?, '', 0, ?, ?, ?)`,
		key, revision, next.Name, next.MIME, next.Bytes, next.GivenTitle, metadata{&next.GivenMetadata}, timestamp{&next.CreatedAt}); err != nil {
		return err
	}
	shown := was.SHA256
	if shown == next.SHA256 {
		shown = ""
	}
	now := db.now()
	_, err = tx.ExecContext(ctx, `UPDATE documents SET sha256 = ?, shown_sha256 = ?, status = 'queued', error = '', updated_at = ? WHERE key = ?`,
		next.SHA256, shown, timestamp{&now}, key)
	return err
}

// setContent gives a document of which nothing was ever visible its content.
func (db *DB) setContent(ctx context.Context, tx *sql.Tx, key int64, next store.Document, job store.Job) error {
	if _, err := db.begin(ctx, tx, key, job); err != nil {
		return err
	}
	now := db.now()
	_, err := tx.ExecContext(ctx, `UPDATE documents SET name = ?1, title = ?2, given_title = ?2, metadata = ?3, given_metadata = ?3,
		mime = ?4, bytes = ?5, sha256 = ?6, text_sha256 = '', text_bytes = 0, pages = 0, warnings = '[]',
		status = 'queued', error = '', updated_at = ?7 WHERE key = ?8`,
		next.Name, next.GivenTitle, metadata{&next.GivenMetadata}, next.MIME, next.Bytes, next.SHA256, timestamp{&now}, key)
	return err
}

// begin stores the job that makes the next revision.
func (db *DB) begin(ctx context.Context, tx *sql.Tx, key int64, job store.Job) (revision int, err error) {
	if err := tx.QueryRowContext(ctx, `UPDATE documents SET latest = max(latest + 1, ?) WHERE key = ? RETURNING latest`,
		job.Revision, key).Scan(&revision); err != nil {
		return 0, err
	}
	job.Revision = revision
	return revision, db.insertJob(ctx, tx, key, job)
}

// without are those of all that are not among the others.
func without(all, others []string) (left []string) {
	for _, one := range all {
		if !slices.Contains(others, one) {
			left = append(left, one)
		}
	}
	return left
}
