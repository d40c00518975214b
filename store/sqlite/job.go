package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"ragagent/store"
)

const jobColumns = `j.id, j.kind, d.kb_id, d.id, j.revision, j.turn, j.status, j.stage, j.done, j.total, j.error, j.attempts,
	j.created_at, j.updated_at, j.started_at, j.lease_until`

const fromJobs = ` FROM jobs j JOIN documents d ON d.key = j.document `

func scanJob(row scanner) (j store.Job, err error) {
	err = row.Scan(&j.ID, &j.Kind, &j.KnowledgeBaseID, &j.DocumentID, &j.Revision, &j.Turn, &j.Status, &j.Stage, &j.Done, &j.Total,
		&j.Error, &j.Attempts, timestamp{&j.CreatedAt}, timestamp{&j.UpdatedAt},
		timestamp{&j.StartedAt}, timestamp{&j.LeaseUntil})
	return j, err
}

const insertJob = `INSERT INTO jobs
	(id, kind, document, revision, turn, status, stage, done, total, error, attempts,
	 created_at, updated_at, started_at, lease_until)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?, 0, 0)`

func (db *DB) insertJob(ctx context.Context, tx *sql.Tx, document int64, j store.Job) error {
	return execPrepared(ctx, tx, db.stmts.insertJob,
		j.ID, j.Kind, document, j.Revision, j.Turn, j.Status, j.Stage, j.Done, j.Total,
		timestamp{&j.CreatedAt}, timestamp{&j.UpdatedAt})
}

func jobByID(ctx context.Context, tx *sql.Tx, id string) (store.Job, error) {
	return scanJob(tx.QueryRowContext(ctx, `SELECT `+jobColumns+fromJobs+`WHERE j.id = ?`, id))
}

const selectCurrentJob = `SELECT ` + jobColumns + fromJobs + `LEFT JOIN pending p ON p.document = d.key
	WHERE d.id = ? ORDER BY j.revision = ` + currentRevision + ` DESC, j.id DESC LIMIT 1`

// currentJob is the one that makes a document's latest revision, or has made it.
func (db *DB) currentJob(ctx context.Context, tx *sql.Tx, document string) (store.Job, error) {
	return scanJob(rowPrepared(ctx, tx, db.stmts.currentJob, document))
}

// target is what a job works on.
type target struct {
	key      int64 // of the document
	document string
	kb       string
	visible  int // revision that is found now, 0 for none
	retiring int // that was found before, and whose chunks are still there; 0 for none
	latest   int // that was begun
	pending  int // that waits to take the place of the visible one; 0 for none
	revision int // the one the job makes
	status   store.Status
}

// published says that what the job makes can be found already.
func (t target) published() bool { return t.visible == t.revision }

// superseded says that another upload has taken the place of the job's.
func (t target) superseded() bool {
	if t.pending != 0 {
		return t.pending != t.revision
	}
	return t.visible != 0 && t.visible != t.revision || t.latest != t.revision
}

const selectTarget = `SELECT d.key, d.id, d.kb_id, d.revision, d.retiring, d.latest, coalesce(p.revision, 0), j.revision, j.status` +
	fromJobs + `LEFT JOIN pending p ON p.document = d.key WHERE j.id = ?`

func (db *DB) targetOf(ctx context.Context, tx *sql.Tx, job string) (t target, err error) {
	err = rowPrepared(ctx, tx, db.stmts.target, job).
		Scan(&t.key, &t.document, &t.kb, &t.visible, &t.retiring, &t.latest, &t.pending, &t.revision, &t.status)
	return t, err
}

// Job implements store.Jobs.
func (db *DB) Job(ctx context.Context, id string) (job store.Job, err error) {
	err = db.read(ctx, "job "+id, func(tx *sql.Tx) error {
		job, err = jobByID(ctx, tx, id)
		if errors.Is(err, sql.ErrNoRows) {
			job, err = changeJob(ctx, tx, id)
		}
		return err
	})
	return job, err
}

// Jobs implements store.Jobs.
func (db *DB) Jobs(ctx context.Context, filter store.JobFilter, page store.Page) (all []store.Job, err error) {
	// Only the conditions that are wanted: an OR would hide the indexes.
	where, args := `WHERE j.id > ?`, []any{page.After}
	for _, c := range []struct{ column, value string }{
		{"j.status", string(filter.Status)}, {"d.kb_id", filter.KnowledgeBase}, {"d.id", filter.Document},
	} {
		if c.value != "" {
			where, args = where+` AND `+c.column+` = ?`, append(args, c.value)
		}
	}
	err = db.read(ctx, "list jobs", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+jobColumns+fromJobs+where+` ORDER BY j.id LIMIT ?`, append(args, page.Size())...)
		all, err = collect(rows, err, scanJob)
		if err != nil {
			return err
		}
		all, err = withChangeJobs(ctx, tx, all, filter, page)
		return err
	})
	return all, err
}

// LatestJobs implements store.Jobs.
func (db *DB) LatestJobs(ctx context.Context, documents []string) (map[string]store.Job, error) {
	wanted, err := json.Marshal(documents)
	if err != nil {
		return nil, err
	}
	latest := make(map[string]store.Job, len(documents))
	err = db.read(ctx, fmt.Sprintf("jobs of %d documents", len(documents)), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+jobColumns+` FROM json_each(?) wanted
			CROSS JOIN documents d ON d.id = wanted.value
			CROSS JOIN jobs j ON j.id = (SELECT id FROM jobs WHERE document = d.key ORDER BY id DESC LIMIT 1)`, string(wanted))
		jobs, err := collect(rows, err, scanJob)
		for _, j := range jobs {
			latest[j.DocumentID] = j
		}
		return err
	})
	return latest, err
}

// CountJobs implements store.Jobs.
func (db *DB) CountJobs(ctx context.Context) (map[store.Status]int, error) {
	counts := map[store.Status]int{}
	err := db.read(ctx, "count jobs", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT status, count(*) FROM jobs GROUP BY status`)
		_, err = collect(rows, err, func(row scanner) (struct{}, error) {
			var status store.Status
			var n int
			err := row.Scan(&status, &n)
			counts[status] = n
			return struct{}{}, err
		})
		return err
	})
	return counts, err
}

// Finish implements store.Jobs.
func (db *DB) Finish(ctx context.Context, id string) error {
	return db.write(ctx, "finish job "+id, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, id)
		if err != nil {
			return err
		}
		if !t.published() {
			return fmt.Errorf("%w: nothing was published", store.ErrConflict)
		}
		now := db.now()
		if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'ready', error = '', lease_until = 0,
			done = total, updated_at = ? WHERE id = ?`, timestamp{&now}, id); err != nil {
			return err
		}
		if err := retire(ctx, tx, t); err != nil {
			return err
		}
		return db.setDocumentStatus(ctx, tx, t, store.StatusReady, "")
	})
}

// Fail implements store.Jobs.
func (db *DB) Fail(ctx context.Context, id, reason string) error {
	return db.write(ctx, "fail job "+id, func(ctx context.Context, tx *sql.Tx) error {
		return db.end(ctx, tx, id, store.StatusFailed, reason)
	})
}

// CancelJob implements store.Jobs.
func (db *DB) CancelJob(ctx context.Context, id string) (job store.Job, err error) {
	err = db.write(ctx, "cancel job "+id, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.targetOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if t.published() && t.retiring != 0 && !t.status.Ended() {
			return fmt.Errorf("%w: revision %d is visible already", store.ErrConflict, t.revision)
		}
		if err := db.end(ctx, tx, id, store.StatusCancelled, ""); err != nil {
			return err
		}
		job, err = jobByID(ctx, tx, id)
		return err
	})
	return job, err
}

// end closes a queued or running job without a result. What it stored so far
// goes. A revision that was visible before stays so, and one that was published
// is what the document is: only a cancellation takes it back, and that only if
// it is the first (CancelJob). What it replaced stays until the search indexes
// have followed, as they have not: the job can be retried.
func (db *DB) end(ctx context.Context, tx *sql.Tx, id string, status store.Status, reason string) error {
	t, err := db.targetOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if t.status.Ended() {
		return fmt.Errorf("%w: it has ended: %s", store.ErrConflict, t.status)
	}
	if status == store.StatusCancelled || !t.published() {
		if err := withdraw(ctx, tx, t); err != nil {
			return err
		}
	}
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = ?, error = ?, lease_until = 0, updated_at = ? WHERE id = ?`,
		status, reason, timestamp{&now}, id); err != nil {
		return err
	}
	return db.setDocumentStatus(ctx, tx, t, status, t.outcome(status, reason))
}

// withdraw removes what a job has stored.
func withdraw(ctx context.Context, tx *sql.Tx, t target) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ? AND revision = ?`, t.key, t.revision); err != nil {
		return err
	}
	if !t.published() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE documents SET revision = 0, chunk_count = 0 WHERE key = ?`, t.key)
	return err
}

// outcome is what a document says of a job that ended without a result.
func (t target) outcome(status store.Status, reason string) string {
	switch {
	case t.visible == 0 || t.published() && status == store.StatusCancelled:
		return reason
	case t.published():
		return fmt.Sprintf("revision %d is stored, and the search indexes have not followed: %s; retry the job", t.revision, reason)
	case status == store.StatusCancelled:
		return fmt.Sprintf("revision %d was cancelled; revision %d is still searched", t.revision, t.visible)
	}
	return fmt.Sprintf("revision %d failed: %s; revision %d is still searched", t.revision, reason, t.visible)
}

// RetryJob implements store.Jobs.
func (db *DB) RetryJob(ctx context.Context, id string) (job store.Job, err error) {
	err = db.write(ctx, "retry job "+id, func(ctx context.Context, tx *sql.Tx) error {
		if err := db.retry(ctx, tx, id); err != nil {
			return err
		}
		job, err = jobByID(ctx, tx, id)
		return err
	})
	return job, err
}

func (db *DB) retry(ctx context.Context, tx *sql.Tx, id string) error {
	t, err := db.targetOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if t.status != store.StatusFailed && t.status != store.StatusCancelled {
		return fmt.Errorf("%w: it is %s", store.ErrConflict, t.status)
	}
	if t.superseded() {
		return fmt.Errorf("%w: a newer upload took its place", store.ErrConflict)
	}
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'queued', stage = '', done = 0, total = 0,
		error = '', attempts = 0, started_at = 0, lease_until = 0, updated_at = ? WHERE id = ?`,
		timestamp{&now}, id); err != nil {
		return err
	}
	return db.setDocumentStatus(ctx, tx, t, store.StatusQueued, "")
}

// retryBatch is how many jobs are queued again in one transaction: others can
// write between two of them.
const retryBatch = 200

// currentRevision is the one that a document's current job makes, or has made.
const currentRevision = `coalesce(p.revision, iif(d.revision > 0, d.revision, d.latest))`

// selectFailed lists failed jobs, but those whose place a newer upload took.
const selectFailed = `SELECT j.id` + fromJobs + `LEFT JOIN pending p ON p.document = d.key
	WHERE j.status = 'failed' AND (?1 = '' OR d.kb_id = ?1) AND j.revision = ` + currentRevision + ` ORDER BY j.id LIMIT ?2`

// RetryFailed implements store.Jobs.
func (db *DB) RetryFailed(ctx context.Context, kb string) (total int, err error) {
	for {
		n := 0
		err := db.write(ctx, "retry failed jobs", func(ctx context.Context, tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, selectFailed, kb, retryBatch)
			ids, err := collect(rows, err, func(row scanner) (id string, err error) {
				err = row.Scan(&id)
				return id, err
			})
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := db.retry(ctx, tx, id); err != nil {
					return fmt.Errorf("job %s: %w", id, err)
				}
			}
			n = len(ids)
			return nil
		})
		if err != nil {
			return total, err
		}
		if total += n; n < retryBatch {
			return total, nil
		}
	}
}

// NextTurn implements store.Jobs.
func (db *DB) NextTurn(ctx context.Context) (turn int64, err error) {
	err = db.read(ctx, "look for the next turn", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT coalesce(
			(SELECT min(turn) FROM jobs WHERE status = 'queued'),
			(SELECT max((SELECT max(turn) FROM jobs WHERE status = s.value))
				FROM json_each('["running", "ready", "failed", "cancelled"]') s), 0)`).Scan(&turn)
	})
	return turn, err
}
