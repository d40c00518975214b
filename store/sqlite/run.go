package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"ragagent/store"
)

func insertRun(ctx context.Context, tx *sql.Tx, run store.Run) error {
	if len(run.Trace) > 0 && !json.Valid(run.Trace) {
		return store.Invalid("run.trace", "it is not JSON")
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO runs
		(id, conversation_id, agent, question, answer, finished_reason, error, trace, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run.ID, run.ConversationID, run.Agent, run.Question, run.Answer, run.FinishedReason, run.Error,
		string(run.Trace), timestamp{&run.StartedAt}, timestamp{&run.EndedAt})
	if err != nil {
		return err
	}
	for _, s := range run.Steps {
		if _, err := tx.ExecContext(ctx, `INSERT INTO thoughts
			(run_id, position, thought, tool, tool_input, observation, error, elapsed_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			run.ID, s.Position, s.Thought, s.Tool, s.ToolInput, s.Observation, s.Error, s.ElapsedMS); err != nil {
			return err
		}
	}
	return nil
}

// Run implements store.Runs.
func (db *DB) Run(ctx context.Context, id string) (run store.Run, err error) {
	err = db.read(ctx, "run "+id, func(tx *sql.Tx) error {
		run, err = scanRun(tx.QueryRowContext(ctx, `SELECT id, conversation_id, agent, question, answer,
			finished_reason, error, trace, started_at, ended_at FROM runs WHERE id = ?`, id))
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT position, thought, tool, tool_input, observation, error, elapsed_ms
			FROM thoughts WHERE run_id = ? ORDER BY position`, id)
		run.Steps, err = collect(rows, err, scanThought)
		return err
	})
	return run, err
}

func scanRun(row scanner) (r store.Run, err error) {
	var trace string
	err = row.Scan(&r.ID, &r.ConversationID, &r.Agent, &r.Question, &r.Answer, &r.FinishedReason, &r.Error, &trace,
		timestamp{&r.StartedAt}, timestamp{&r.EndedAt})
	if trace != "" {
		r.Trace = json.RawMessage(trace)
	}
	return r, err
}

func scanThought(row scanner) (s store.Thought, err error) {
	err = row.Scan(&s.Position, &s.Thought, &s.Tool, &s.ToolInput, &s.Observation, &s.Error, &s.ElapsedMS)
	return s, err
}
