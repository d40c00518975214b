package sqlite

import (
	"context"
	"database/sql"

	"ragagent/store"
)

// Publish implements store.Chunks. From the commit on every reader sees the
// new revision, and before it the old one: there is nothing between. Whoever
// has found an old chunk in an index that has not followed yet can still fetch
// it (retiring), until Finish.
func (db *DB) Publish(ctx context.Context, jobID string, doc store.Document, chunks []store.Chunk) error {
	return db.write(ctx, "publish document "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if doc.ID != t.document {
			return store.Invalid("document", "job %s works on %s, not on %s", jobID, t.document, doc.ID)
		}
		if err := db.putChunks(ctx, tx, t, chunks); err != nil {
			return err
		}
		n, _, err := journal(ctx, tx, t.document, t.revision)
		if err != nil {
			return err
		}
		if !t.published() {
			if err := db.makeVisible(ctx, tx, t, doc, n); err != nil {
				return err
			}
		}
		now := db.now()
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET stage = ?1, done = 0, total = ?2, attempts = iif(?5, attempts, 0), updated_at = ?3 WHERE id = ?4`,
			store.StageIndex, n, timestamp{&now}, jobID, t.published())
		return err
	})
}

func (db *DB) makeVisible(ctx context.Context, tx *sql.Tx, t target, doc store.Document, chunks int) error {
	if t.pending == t.revision {
		if err := takePending(ctx, tx, t.key); err != nil {
			return err
		}
	}
	if err := db.setParsed(ctx, tx, doc); err != nil {
		return err
	}
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE documents SET chunk_count = ?1, retiring = revision, revision = ?2, updated_at = ?3 WHERE key = ?4`,
		chunks, t.revision, timestamp{&now}, t.key); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ? AND revision NOT IN (?, ?)`, t.key, t.revision, t.visible)
	return err
}

// takePending makes what was pending the document.
func takePending(ctx context.Context, tx *sql.Tx, key int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE documents SET name = p.name, bytes = p.bytes, shown_sha256 = '',
		given_title = p.given_title, given_metadata = p.given_metadata
		FROM pending p WHERE p.document = documents.key AND documents.key = ?`, key); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM pending WHERE document = ?`, key)
	return err
}

// retire removes the revision that was visible before.
func retire(ctx context.Context, tx *sql.Tx, t target) error {
	if t.retiring == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ? AND revision = ?`, t.key, t.retiring); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE documents SET retiring = 0 WHERE key = ?`, t.key)
	return err
}
