package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"ragagent/store"
)

// Lease implements store.Jobs. The write lock is held from the choice to the
// mark, so no two callers choose the same job.
func (db *DB) Lease(ctx context.Context, now time.Time, lease time.Duration, except ...string) (job store.Job, err error) {
	until := now.Add(lease)
	err = db.write(ctx, "lease a job", func(ctx context.Context, tx *sql.Tx) error {
		id, err := nextWaiting(ctx, tx, now, except)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'running', attempts = attempts + 1,
			started_at = ?1, updated_at = ?1, lease_until = ?2 WHERE id = ?3`,
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

// nextWaiting looks at one queued row and at the few running ones, however long
// the history of ended jobs is; where some are to be passed over, at those too.
func nextWaiting(ctx context.Context, tx *sql.Tx, now time.Time, except []string) (id string, err error) {
	wanted, args := `AND NOT `+waitsForFetch, []any{timestamp{&now}}
	if len(except) > 0 {
		passed, err := json.Marshal(except)
		if err != nil {
			return "", err
		}
		wanted += ` AND (SELECT kb_id FROM documents WHERE key = document) NOT IN (SELECT value FROM json_each(?2))`
		args = append(args, string(passed))
	}
	err = tx.QueryRowContext(ctx, `SELECT id FROM (
			SELECT * FROM (SELECT turn, id FROM jobs WHERE status = 'queued' AND lease_until <= ?1 `+wanted+` ORDER BY turn, id LIMIT 1)
			UNION ALL
			SELECT * FROM (SELECT turn, id FROM jobs WHERE status = 'running' AND lease_until <= ?1 `+wanted+` ORDER BY turn, id LIMIT 1)
		) ORDER BY turn, id LIMIT 1`, args...).Scan(&id)
	return id, err
}

// Heartbeat implements store.Jobs.
func (db *DB) Heartbeat(ctx context.Context, id string, until time.Time, p store.Progress) error {
	now := db.now()
	return db.write(ctx, "heartbeat of job "+id, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE jobs SET lease_until = ?, stage = ?, done = ?, total = ?, updated_at = ?
			WHERE id = ? AND status = 'running'`,
			timestamp{&until}, p.Stage, p.Done, p.Total, timestamp{&now}, id)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			return errNotRunning
		}
		return err
	})
}

// Requeue implements store.Jobs.
func (db *DB) Requeue(ctx context.Context, id string) error {
	return db.write(ctx, "requeue job "+id, func(ctx context.Context, tx *sql.Tx) error {
		_, err := db.requeue(ctx, tx, 1, `status = 'running' AND id = ?`, id)
		return err
	})
}

// RequeueAll implements store.Jobs. The attempts stay counted: a job that
// takes the process down with it must not do so for ever.
func (db *DB) RequeueAll(ctx context.Context, suspects store.Suspects) (n int, err error) {
	err = db.write(ctx, "requeue running jobs", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id FROM (
				SELECT id, attempts FROM jobs WHERE status = 'running' AND attempts >= ?
				UNION ALL SELECT id, attempts FROM jobs WHERE status = 'queued' AND lease_until > 0
			) ORDER BY attempts, id`, suspects.Attempts)
		ids, err := collect(rows, err, func(row scanner) (id string, err error) {
			err = row.Scan(&id)
			return id, err
		})
		if err != nil {
			return err
		}
		if n, err = db.requeue(ctx, tx, 0, `status = 'running'`); err != nil {
			return err
		}
		for i, id := range ids {
			from := suspects.Turn(i)
			if _, err := tx.ExecContext(ctx, `UPDATE jobs SET lease_until = ? WHERE id = ?`, timestamp{&from}, id); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func (db *DB) requeue(ctx context.Context, tx *sql.Tx, uncount int, where string, args ...any) (int, error) {
	now := db.now()
	if _, err := tx.ExecContext(ctx, `UPDATE documents SET status = 'queued', updated_at = ? WHERE status = 'running'
		AND key IN (SELECT document FROM jobs WHERE `+where+`
			AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.document = jobs.document AND p.revision <> jobs.revision))`, append([]any{timestamp{&now}}, args...)...); err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `UPDATE jobs SET status = 'queued', lease_until = 0, attempts = max(0, attempts - ?), updated_at = ?
		WHERE `+where, append([]any{uncount, timestamp{&now}}, args...)...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
