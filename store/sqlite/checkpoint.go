package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"ragagent/store"
)

const checkpointColumns = `run_id, conversation_id, agent, question, status, state, scope, steps, started_at, updated_at, expires_at`

func scanCheckpoint(row scanner) (c store.Checkpoint, err error) {
	var state, scope string
	err = row.Scan(&c.RunID, &c.ConversationID, &c.Agent, &c.Question, &c.Status, &state, &scope, jsonValue{&c.Steps},
		timestamp{&c.StartedAt}, timestamp{&c.UpdatedAt}, timestamp{&c.ExpiresAt})
	c.State = json.RawMessage(state)
	if scope != "" {
		c.Scope = json.RawMessage(scope)
	}
	return c, err
}

// SaveCheckpoint implements store.Checkpoints.
func (db *DB) SaveCheckpoint(ctx context.Context, c store.Checkpoint) error {
	switch {
	case c.RunID == "":
		return store.Invalid("checkpoint.run_id", "it is empty")
	case !json.Valid(c.State):
		return store.Invalid("checkpoint.state", "it is not JSON")
	case len(c.Scope) > 0 && !json.Valid(c.Scope):
		return store.Invalid("checkpoint.scope", "it is not JSON")
	}
	if err := checkPositions("checkpoint.steps", c.Steps); err != nil {
		return err
	}
	return db.write(ctx, "save checkpoint of "+c.RunID, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO checkpoints (`+checkpointColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run_id) DO UPDATE SET status = excluded.status, agent = excluded.agent, state = excluded.state,
			steps = excluded.steps, updated_at = excluded.updated_at, expires_at = excluded.expires_at`,
			c.RunID, c.ConversationID, c.Agent, c.Question, c.Status, string(c.State), string(c.Scope), jsonValue{&c.Steps},
			timestamp{&c.StartedAt}, timestamp{&c.UpdatedAt}, timestamp{&c.ExpiresAt})
		return err
	})
}

// checkPositions wants 1..n.
func checkPositions(field string, steps []store.Thought) error {
	for i, step := range steps {
		if step.Position != i+1 {
			return store.Invalid(field, "position %d stands at place %d", step.Position, i+1)
		}
	}
	return nil
}

// Checkpoint implements store.Checkpoints.
func (db *DB) Checkpoint(ctx context.Context, runID string) (c store.Checkpoint, err error) {
	err = db.read(ctx, "checkpoint of "+runID, func(tx *sql.Tx) error {
		c, err = checkpointIn(ctx, tx, runID)
		return err
	})
	return c, err
}

func checkpointIn(ctx context.Context, tx *sql.Tx, runID string) (store.Checkpoint, error) {
	return scanCheckpoint(tx.QueryRowContext(ctx, `SELECT `+checkpointColumns+` FROM checkpoints WHERE run_id = ?`, runID))
}

// TakeCheckpoint implements store.Checkpoints.
func (db *DB) TakeCheckpoint(ctx context.Context, runID string, now time.Time) (c store.Checkpoint, err error) {
	err = db.write(ctx, "take checkpoint of "+runID, func(ctx context.Context, tx *sql.Tx) error {
		if c, err = checkpointIn(ctx, tx, runID); err != nil {
			return err
		}
		switch {
		case c.Status == store.CheckpointRunning:
			return fmt.Errorf("%w: the run is going on", store.ErrConflict)
		case !c.ExpiresAt.After(now):
			return fmt.Errorf("%w: it could be resumed until %s", store.ErrConflict, c.ExpiresAt.Format(time.RFC3339))
		}
		_, err := tx.ExecContext(ctx, `UPDATE checkpoints SET status = 'running' WHERE run_id = ?`, runID)
		return err
	})
	return c, err
}

// DeleteCheckpoint implements store.Checkpoints.
func (db *DB) DeleteCheckpoint(ctx context.Context, runID string) error {
	return db.write(ctx, "delete checkpoint of "+runID, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM checkpoints WHERE run_id = ?`, runID)
		return err
	})
}

// InterruptCheckpoints implements store.Checkpoints.
func (db *DB) InterruptCheckpoints(ctx context.Context, now time.Time) (n int, err error) {
	err = db.write(ctx, "interrupt checkpoints", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM checkpoints WHERE expires_at <= ?`, timestamp{&now}); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE checkpoints SET status = 'interrupted' WHERE status = 'running'`)
		if err != nil {
			return err
		}
		marked, err := res.RowsAffected()
		n = int(marked)
		return err
	})
	return n, err
}
