package sqlite

import (
	"context"
	"database/sql"

	"ragagent/store"
)

// Publish implements store.Chunks. From the commit on every reader sees the
// new revision, and before it the old one: there is nothing between.
func (db *DB) Publish(ctx context.Context, jobID string, doc store.Document, chunks []store.Chunk) error {
	return db.write(ctx, "publish document "+doc.ID, func(ctx context.Context, tx *sql.Tx) error {
		t, err := runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if doc.ID != t.document {
			return store.Invalid("document", "job %s works on %s, not on %s", jobID, t.document, doc.ID)
		}
		if err := db.putChunks(ctx, tx, t, chunks); err != nil {
			return err
		}
		if err := db.setParsed(ctx, tx, doc); err != nil {
			return err
		}
		return db.makeVisible(ctx, tx, jobID, t)
	})
}

func (db *DB) makeVisible(ctx context.Context, tx *sql.Tx, jobID string, t target) error {
	n, _, err := journal(ctx, tx, t.document, t.revision)
	if err != nil {
		return err
	}
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE documents SET chunk_count = ?1, revision = ?2, updated_at = ?3 WHERE key = ?4`,
		n, t.revision, timestamp{&now}, t.key); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ? AND revision <> ?`, t.key, t.revision); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE jobs SET stage = ?1, done = 0, total = ?2, updated_at = ?3 WHERE id = ?4`,
		store.StageIndex, n, timestamp{&now}, jobID)
	return err
}
