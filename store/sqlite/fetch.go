package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"ragagent/store"
)

// waitsForFetch is true of a row of jobs whose content is not there yet.
const waitsForFetch = `EXISTS (SELECT 1 FROM fetches WHERE job = jobs.id)`

const selectFetch = `SELECT j.id FROM fetches f CROSS JOIN jobs j ON j.id = f.job
	WHERE f.kind = ?1 AND f.not_before <= ?2 AND (j.status = 'queued' OR j.status = 'running' AND j.lease_until <= ?2)
	ORDER BY f.not_before, f.key LIMIT 1`

// LeaseFetch implements store.Addresses.
func (db *DB) LeaseFetch(ctx context.Context, kind string, now time.Time, lease time.Duration) (job store.Job, err error) {
	var id string
	// Mostly there is none: that is seen without a write.
	err = db.read(ctx, "look for a fetch", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, selectFetch, kind, timestamp{&now}).Scan(&id)
	})
	if err != nil {
		return job, err
	}
	until := now.Add(lease)
	err = db.write(ctx, "lease a fetch", func(ctx context.Context, tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, selectFetch, kind, timestamp{&now}).Scan(&id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'running', stage = 'fetch', done = 0, total = 0, error = '',
			attempts = attempts + 1, started_at = ?1, lease_until = ?2, updated_at = ?1 WHERE id = ?3`,
			timestamp{&now}, timestamp{&until}, id); err != nil {
			return err
		}
		t, err := db.targetOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := db.setDocumentStatus(ctx, tx, t, store.StatusRunning, ""); err != nil {
			return err
		}
		job, err = jobByID(ctx, tx, id)
		return err
	})
	return job, err
}

// PostponeFetch implements store.Addresses.
func (db *DB) PostponeFetch(ctx context.Context, jobID string, until time.Time, reason string) error {
	return db.write(ctx, "postpone job "+jobID, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE fetches SET not_before = ? WHERE job = ?`, timestamp{&until}, jobID); err != nil {
			return err
		}
		return db.queueAgain(ctx, tx, t, jobID, reason, false)
	})
}

// queueAgain gives a running job back.
func (db *DB) queueAgain(ctx context.Context, tx *sql.Tx, t target, jobID, reason string, uncount bool) error {
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'queued', error = ?, lease_until = 0, updated_at = ?,
		attempts = iif(?, 0, attempts) WHERE id = ?`, reason, timestamp{&now}, uncount, jobID); err != nil {
		return err
	}
	return db.setDocumentStatus(ctx, tx, t, store.StatusQueued, reason)
}

// PutFetched implements store.Addresses.
func (db *DB) PutFetched(ctx context.Context, jobID string, f store.Fetched) (duplicate bool, err error) {
	if err := checkNamed(f.SHA256, f.Name); err != nil {
		return false, err
	}
	err = db.write(ctx, "record what job "+jobID+" fetched", func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM fetches WHERE job = ?`, jobID); err != nil {
			return err
		}
		f.Address.KnowledgeBaseID = t.kb
		if err := keepAsked(ctx, tx, &f.Address); err != nil {
			return err
		}
		_, same, err := db.documentByContent(ctx, tx, t.kb, f.SHA256)
		if duplicate = err == nil && same != t.key; duplicate {
			return db.isDuplicate(ctx, tx, jobID, t, same, f.Address)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		now := db.now()
		if _, err := tx.ExecContext(ctx, `UPDATE documents SET name = ?, mime = ?, bytes = ?, sha256 = ?, updated_at = ? WHERE key = ?`,
			f.Name, f.MIME, f.Bytes, f.SHA256, timestamp{&now}, t.key); err != nil {
			return err
		}
		if err := putAddress(ctx, tx, t.key, f.Address); err != nil {
			return err
		}
		return db.queueAgain(ctx, tx, t, jobID, "", true)
	})
	return duplicate, err
}

// keepAsked lets an address that was asked for again during its first fetch be
// due.
func keepAsked(ctx context.Context, tx *sql.Tx, a *store.Address) error {
	var asked time.Time
	err := tx.QueryRowContext(ctx, `SELECT next_at FROM addresses WHERE kb_id = ? AND url = ? AND fetched_at = 0 AND next_at > 0`,
		a.KnowledgeBaseID, a.URL).Scan(timestamp{&asked})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		a.NextAt = asked
	}
	return err
}

// isDuplicate gives a job, and the address it fetched, to the document that has
// the content already, and deletes the one that was to have it.
func (db *DB) isDuplicate(ctx context.Context, tx *sql.Tx, jobID string, t target, same int64, a store.Address) error {
	now := db.now()
	if err := putAddress(ctx, tx, same, a); err != nil {
		return err
	}
	for _, move := range []string{
		`UPDATE addresses SET document = ?1 WHERE document = ?2`,
		`UPDATE sources SET document = ?1 WHERE document = ?2`,
	} {
		if _, err := tx.ExecContext(ctx, move, same, t.key); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE jobs SET document = ?1, revision = (SELECT revision FROM documents WHERE key = ?1),
		status = 'ready', error = '', lease_until = 0, updated_at = ?2 WHERE id = ?3`, same, timestamp{&now}, jobID); err != nil {
		return err
	}
	_, err := db.deleteDocument(ctx, tx, t.kb, t.document)
	return err
}
